/*
 * probe tries hostile and odd things from inside a sandbox and prints one line for each:
 * its id and an errno name, "OK", or a value. It is a test program: what is right stands in the Go tests.
 *
 *   probe --inside [options]           try everything
 *   probe posture                      print what the process is and has, as stable text
 *   probe list                         print the ids
 *   probe twin --throw-away <id>...    try rows in name spaces made for this, where they must work ("all": every row)
 *
 * Each row runs in a child of its own, so that what it changes about itself is gone with it, and a row that is
 * killed or hangs is a value like any other.
 */
#include "probe.h"

#include <dirent.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ROWS = 4096, ROW_SECONDS = 10 };

struct options opt;
int twin;
char **self_argv;

static struct row rows[MAX_ROWS];
static int row_count;
static pid_t victim;
static char base[256], work_dir[320]; /* absolute, as a row may change its directory */

/* What a row's child tells: shared memory, as the child may have closed every descriptor. */
static struct answer {
	int done;
	long value;
	char text[1024];
} *answer;

void add(row_fn *run, const char *s, long a, long b, const char *format, ...)
{
	char *id;
	va_list ap;
	va_start(ap, format);
	if (vasprintf(&id, format, ap) < 0 || row_count == MAX_ROWS)
		abort();
	va_end(ap);
	rows[row_count++] = (struct row){id, run, s, a, b};
}

long say(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(answer->text, sizeof answer->text, format, ap);
	va_end(ap);
	return 0;
}

long not_given(void)
{
	return say("not-given");
}

pid_t target(void)
{
	return twin ? victim : 1;
}

const char *sys(const char *path)
{
	static char buf[4][256];
	static int next;
	char *p = buf[next++ % 4];
	snprintf(p, sizeof buf[0], "%s%s", twin ? "/tmp/root" : "", path);
	return p;
}

const char *work(const char *name)
{
	static char buf[4][400];
	static int next;
	char *p = buf[next++ % 4];
	snprintf(p, sizeof buf[0], "%s/%s", work_dir, name);
	return p;
}

/* A child for a twin to attack: it does nothing, and goes when its parent does. */
static pid_t start_victim(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static void remove_tree(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[1024];
	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (unlink(path) < 0 && errno == EISDIR)
			remove_tree(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

/* The child's part of a row. */
static void run_row(const struct row *r)
{
	alarm(ROW_SECONDS);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (twin) {
		if (twin_row(r->id) < 0)
			_exit(1);
		victim = start_victim();
	}
	if (mkdir(work_dir, 0755) < 0)
		_exit(1);
	answer->value = r->run(r);
	answer->done = 1;
	if (victim > 0)
		kill(victim, SIGKILL);
	_exit(0);
}

static void print_answer(const struct row *r, int status)
{
	if (WIFSIGNALED(status))
		printf("%s SIG%s\n", r->id, sigabbrev_np(WTERMSIG(status)));
	else if (!answer->done)
		printf("%s exited:%d\n", r->id, WEXITSTATUS(status));
	else if (answer->text[0])
		printf("%s %s\n", r->id, answer->text);
	else
		printf("%s %s\n", r->id, answer->value < 0 ? errno_name(-answer->value) : "OK");
	fflush(stdout);
}

static void try_row(const struct row *r)
{
	memset(answer, 0, sizeof *answer);
	snprintf(work_dir, sizeof work_dir, "%s/probe-%ld", base, (long)(r - rows));
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		run_row(r);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		printf("%s fork:%s\n", r->id, errno_name(errno));
	else
		print_answer(r, status);
	while (twin && waitpid(-1, NULL, WNOHANG) > 0) /* as the first process it gets the victims */
		;
	if (!twin)
		remove_tree(work_dir);
}

static int refuse(const char *why)
{
	fprintf(stderr, "probe: %s\n", why);
	return 3;
}

/* Whoever runs this by mistake outside a sandbox must take no harm: then it is unlikely to have dropped everything. */
static int guard_inside(void)
{
	static char status[8192];
	if (getuid() == 0 || geteuid() == 0 || getgid() == 0 || getegid() == 0)
		return refuse("refused: it runs as root");
	if (read_text("/proc/self/status", status, sizeof status) < 0)
		return refuse("refused: /proc/self/status cannot be read");
	if (!strstr(status, "\nNoNewPrivs:\t1\n"))
		return refuse("refused: no_new_privs is not set, so this is no sandbox");
	/* Numbers that the kernel has given to its first name spaces: PROC_USER_INIT_INO, PROC_PID_INIT_INO. */
	struct stat user, pid;
	if (stat("/proc/self/ns/user", &user) < 0 || stat("/proc/self/ns/pid", &pid) < 0)
		return refuse("refused: its name spaces are not known");
	if (user.st_ino == 0xeffffffd || pid.st_ino == 0xeffffffc)
		return refuse("refused: it is in the first user or PID name space, so this is no sandbox");
	return 0;
}

static void add_all(void)
{
	add_calls();
	add_i386();
	add_namespaces();
	add_mounts();
	add_creds();
	add_process();
	add_signals();
	add_proc();
	add_files();
	add_links();
	add_devices();
	add_sockets();
	add_net();
	add_tty();
	add_limits();
	add_odd();
	add_view();
}

static int wanted(const char *id, char **ids)
{
	if (!ids)
		return !opt.only || !strncmp(id, opt.only, strlen(opt.only));
	for (; *ids; ids++)
		if (!strcmp(*ids, "all") || !strcmp(*ids, id))
			return 1;
	return 0;
}

/* ids is NULL for all that opt.only picks. */
static int try_all(char **ids)
{
	answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (answer == MAP_FAILED)
		return refuse("no memory");
	if (twin)
		strcpy(base, "/tmp/work");
	else if (!getcwd(base, sizeof base))
		return refuse("the current directory has no name");
	for (int i = 0; i < row_count; i++)
		if (wanted(rows[i].id, ids))
			try_row(&rows[i]);
	return 0;
}

static int list(void)
{
	for (int i = 0; i < row_count; i++)
		puts(rows[i].id);
	return 0;
}

/* Reads the options after --inside; 0 when one is not known. */
static int read_options(char **argv)
{
	int pids = 0;
	for (; *argv; argv++) {
		if (!strcmp(*argv, "--host-net")) {
			opt.host_net = 1;
			continue;
		}
		const char *name = *argv, *value = *++argv;
		if (!value)
			return 0;
		if (!strcmp(name, "--host-pid") && pids < 15)
			opt.host_pids[pids++] = atoi(value);
		else if (!strcmp(name, "--abstract"))
			opt.abstract = value;
		else if (!strcmp(name, "--socket"))
			opt.socket = value;
		else if (!strcmp(name, "--canary"))
			opt.canary = value;
		else if (!strcmp(name, "--secret"))
			opt.secret = value;
		else if (!strcmp(name, "--only"))
			opt.only = value;
		else
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	self_argv = argv;
	add_all();
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (argc == 2 && !strcmp(argv[1], "posture"))
		return posture();
	if (argc == 2 && !strcmp(argv[1], "show-ids"))
		return show_ids();
	if (argc == 2 && !strcmp(argv[1], "write-self"))
		return write_self();
	if (argc > 3 && !strcmp(argv[1], "twin") && !strcmp(argv[2], "--throw-away")) {
		twin = 1;
		return twin_setup() ?: try_all(argv + 3);
	}
	if (argc > 1 && !strcmp(argv[1], "--inside") && read_options(argv + 2))
		return guard_inside() ?: try_all(NULL);
	return refuse("usage: probe --inside [--host-pid N]... [--abstract NAME] [--socket PATH] [--canary PATH] [--secret TEXT] "
		"[--only PREFIX] [--host-net] | posture | list | twin --throw-away ID...");
}
