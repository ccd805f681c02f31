/* The whole posture of the process as text that is the same in every run: no inode, device or process numbers. */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_LINES = 512 };

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_sorted(const char *title, char **lines, int n)
{
	qsort(lines, n, sizeof *lines, by_text);
	printf("%s:\n", title);
	for (int i = 0; i < n; i++)
		printf("\t%s\n", lines[i]);
}

static void print_namespaces(void)
{
	char *names[32];
	int n = 0;
	DIR *d = opendir("/proc/self/ns");
	struct dirent *e;
	while (d && n < 32 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			names[n++] = strdup(e->d_name);
	if (d)
		closedir(d);
	print_sorted("namespaces", names, n);
}

/* Lines of /proc/self/status that say who the process is and what it may do. */
static void print_status(void)
{
	static const char *const wanted[] = {
		"Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters",
		"SigBlk", "SigIgn", "SigCgt", "TracerPid",
	};
	static char text[8192];
	read_text("/proc/self/status", text, sizeof text);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		char head[64];
		snprintf(head, sizeof head, "\n%s:\t", wanted[i]);
		char *at = strstr(text, head);
		printf("%s:", wanted[i]);
		if (at) {
			at += strlen(head);
			char line[256];
			snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
			for (char *word = strtok(line, "\t "); word; word = strtok(NULL, "\t "))
				printf(" %s", word);
		}
		printf("%s\n", at ? "" : " absent");
	}
}

/* One more ruleset can be put on until there are sixteen. */
static int count_layers(void)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE};
	int n = 0;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	long fd = call(SYS_landlock_create_ruleset, (long)&attr, 8, 0, 0, 0, 0);
	while (n <= 16 && call(SYS_landlock_restrict_self, fd, 0, 0, 0, 0, 0) == 0)
		n++;
	return n;
}

static long layers_in_child(void *arg)
{
	(void)arg;
	return count_layers();
}

int landlock_layers(void)
{
	if (call(SYS_landlock_create_ruleset, 0, 0, LANDLOCK_CREATE_RULESET_VERSION, 0, 0, 0) < 0)
		return -1;
	return 16 - child(layers_in_child, NULL);
}

static void print_landlock(void)
{
	long abi = call(SYS_landlock_create_ruleset, 0, 0, LANDLOCK_CREATE_RULESET_VERSION, 0, 0, 0);
	if (abi < 0)
		printf("Landlock: absent (%s)\n", errno_name(-abi));
	else
		printf("Landlock: ABI %ld, %d in force\n", abi, landlock_layers());
}

/* Size and inode limits of a tmpfs stay: they are set. Names of host devices and of what lies below them go. */
static void print_mounts(void)
{
	static char text[1 << 17];
	char *lines[MAX_LINES];
	int n = 0;
	read_text("/proc/self/mountinfo", text, sizeof text);
	for (char *save, *line = strtok_r(text, "\n", &save); line && n < MAX_LINES; line = strtok_r(NULL, "\n", &save)) {
		char where[256], flags[128], type[64];
		char *rest = strstr(line, " - ");
		if (rest && sscanf(line, "%*s %*s %*s %*s %255s %127s", where, flags) == 2 && sscanf(rest, " - %63s", type) == 1)
			if (asprintf(&lines[n], "%s %s %s", where, type, flags) > 0)
				n++;
	}
	print_sorted("mounts", lines, n);
}

static void print_descriptors(void)
{
	char *lines[MAX_LINES], path[64], to[256];
	int n = 0;
	for (int fd = 0; fd < 4096 && n < MAX_LINES; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		long len = readlink(path, to, sizeof to - 1);
		if (len < 0)
			continue;
		to[len] = 0;
		if (strchr(to, '[')) /* pipe:[1234] */
			*strchr(to, '[') = 0;
		if (asprintf(&lines[n], "%d %s", fd, to) > 0)
			n++;
	}
	print_sorted("descriptors", lines, n);
}

static void print_environment(void)
{
	char *lines[MAX_LINES];
	int n = 0;
	for (char **e = environ; *e && n < MAX_LINES; e++)
		lines[n++] = *e;
	print_sorted("environment", lines, n);
}

static void print_limit(rlim_t value)
{
	if (value == RLIM_INFINITY)
		printf(" unlimited");
	else
		printf(" %llu", (unsigned long long)value);
}

static void print_limits(void)
{
	static const char *const names[RLIM_NLIMITS] = {
		[RLIMIT_CPU] = "cpu", [RLIMIT_FSIZE] = "fsize", [RLIMIT_DATA] = "data", [RLIMIT_STACK] = "stack", [RLIMIT_CORE] = "core",
		[RLIMIT_RSS] = "rss", [RLIMIT_NPROC] = "nproc", [RLIMIT_NOFILE] = "nofile", [RLIMIT_MEMLOCK] = "memlock", [RLIMIT_AS] = "as",
		[RLIMIT_LOCKS] = "locks", [RLIMIT_SIGPENDING] = "sigpending", [RLIMIT_MSGQUEUE] = "msgqueue", [RLIMIT_NICE] = "nice",
		[RLIMIT_RTPRIO] = "rtprio", [RLIMIT_RTTIME] = "rttime",
	};
	printf("rlimits:\n");
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit lim;
		if (!names[i] || getrlimit(i, &lim) < 0)
			continue;
		printf("\t%s", names[i]);
		print_limit(lim.rlim_cur);
		print_limit(lim.rlim_max);
		printf("\n");
	}
}

static void print_rest(void)
{
	struct utsname name;
	char cwd[4096], text[64] = "?";
	uname(&name);
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	mode_t mask = umask(0);
	printf("controlling terminal: %s\n", tty < 0 ? errno_name(errno) : "PRESENT");
	printf("hostname: %s\ndomainname: %s\n", name.nodename, name.domainname);
	printf("umask: %04o\n", mask);
	printf("parent: %s\n", getppid() == 0 ? "0" : getppid() == 1 ? "1" : "another");
	printf("session leader: %s\n", getsid(0) == getpid() ? "yes" : "no");
	read_text("/proc/self/oom_score_adj", text, sizeof text);
	printf("oom_score_adj: %.*s\n", (int)strcspn(text, "\n"), text);
	printf("nice: %d\n", getpriority(PRIO_PROCESS, 0));
	printf("dumpable: %d\n", prctl(PR_GET_DUMPABLE));
	printf("cwd: %s\n", getcwd(cwd, sizeof cwd) ?: errno_name(errno));
}

int posture(void)
{
	print_namespaces();
	print_status();
	print_landlock();
	print_mounts();
	print_descriptors();
	print_environment();
	print_limits();
	print_rest();
	return 0;
}
