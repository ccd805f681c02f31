/* Paths that lead, or should not lead, out of what the script sees. */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long read_open(const struct row *r)
{
	return ret(open(r->s, O_RDONLY | O_CLOEXEC));
}

static long is_there(const struct row *r)
{
	struct stat st;
	return ret(lstat(r->s, &st));
}

/* What is in a directory; a directory of nothing is as good as none. */
static long entries(const struct row *r)
{
	DIR *d = opendir(r->s);
	struct dirent *e;
	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			return 0;
	return say("EMPTY");
}

/* The parent of the root is the root. */
static long parent_of_root(const struct row *r)
{
	struct stat root, up;
	if (stat("/", &root) < 0 || stat(r->s, &up) < 0)
		return -errno;
	return say(root.st_dev == up.st_dev && root.st_ino == up.st_ino ? "same" : "OTHER");
}

static long link_then_read(const struct row *r)
{
	if (symlink(r->s, work("link")) < 0)
		return -errno;
	return ret(open(work("link"), O_RDONLY | O_CLOEXEC));
}

static long canary(const struct row *r)
{
	char path[600];
	if (!opt.canary && !twin)
		return not_given();
	snprintf(path, sizeof path, "%s%s", r->s, twin ? "/tmp/root/etc/passwd" : opt.canary);
	return ret(open(path, O_RDONLY | O_CLOEXEC));
}

static long canary_link(const struct row *r)
{
	const char *to = twin ? "/tmp/root/etc/passwd" : opt.canary;
	(void)r;
	if (!to)
		return not_given();
	return symlink(to, work("link")) < 0 ? -errno : ret(open(work("link"), O_RDONLY | O_CLOEXEC));
}

/* No descriptor of a directory came along, by which one could step past the root. */
static long step_out(const struct row *r)
{
	(void)r;
	for (int fd = 0; fd < 1024; fd++)
		if (fchdir(fd) == 0)
			return say("fd %d is a directory", fd);
	return say("none");
}

static long beneath(const struct row *r)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = r->a};
	int dir = open(work("."), O_PATH | O_CLOEXEC);
	return call(SYS_openat2, dir, (long)r->s, (long)&how, sizeof how, 0, 0);
}

/* The program that runs cannot be written to, by whatever name. */
static long write_program(const struct row *r)
{
	return ret(open(r->s, r->a | O_CLOEXEC));
}

/* As the above, for a program that lies in the work directory or in memory, and that runs by its descriptor. */
static long write_copy(const struct row *r)
{
	long err;
	int fd;
	if (r->a) {
		char path[64];
		fd = memfd_create("probe", MFD_CLOEXEC);
		err = copy_self_to(fd);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		int reader = open(path, O_RDONLY | O_CLOEXEC);
		close(fd); /* a program that is open to write cannot run */
		fd = reader;
	} else {
		err = copy_self(work("copy"), 0755);
		fd = open(work("copy"), O_RDONLY | O_CLOEXEC);
	}
	if (err < 0)
		return err;
	int out[2];
	char answer[64] = "";
	if (fd < 0 || pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		fexecve(fd, (char *[]){"probe", "write-self", NULL}, (char *[]){NULL});
		dprintf(1, "exec:%s\n", errno_name(errno));
		_exit(1);
	}
	close(out[1]);
	long n = read(out[0], answer, sizeof answer - 1);
	waitpid(pid, NULL, 0);
	answer[n > 0 ? n - 1 : 0] = 0;
	return say("%s", answer);
}

int write_self(void)
{
	int fd = open("/proc/self/exe", O_RDWR | O_CLOEXEC);
	puts(fd < 0 ? errno_name(errno) : "OK");
	return 0;
}

void add_links(void)
{
	static const char *const absent[] = {
		"/sys", "/sys/fs/cgroup", "/sys/kernel/debug", "/sys/kernel/security", "/boot", "/home", "/mnt", "/media", "/srv", "/opt", "/var",
		"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd",
		"/run/user", "/run/secrets", "/var/run/secrets", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/machine-id", "/etc/ssl/private",
		"/etc/fstab", "/etc/crontab", "/etc/environment", "/etc/kubernetes", "/var/lib", "/var/log", "/lost+found", "/.dockerenv", "/swapfile", "/oldroot", "/newroot", "/.oldroot",
	};
	for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
		add(is_there, absent[i], 0, 0, "absent.%s", absent[i] + 1);
	add(entries, "/root", 0, 0, "absent.root");
	add(parent_of_root, "/..", 0, 0, "escape.dotdot");
	add(parent_of_root, "/../../..", 0, 0, "escape.dotdots");
	add(parent_of_root, "/proc/self/root", 0, 0, "escape.proc-root");
	add(parent_of_root, "/proc/self/root/..", 0, 0, "escape.proc-root-dotdot");
	add(parent_of_root, "/proc/thread-self/root", 0, 0, "escape.thread-root");
	add(read_open, "../../../../../../../../../../etc/shadow", 0, 0, "escape.relative");
	add(read_open, "/proc/self/cwd/../../../../../../etc/shadow", 0, 0, "escape.proc-cwd");
	add(read_open, "/proc/self/root/../../etc/shadow", 0, 0, "escape.proc-root.shadow");
	add(link_then_read, "/etc/shadow", 0, 0, "escape.link.shadow");
	add(link_then_read, "/proc/1/environ", 0, 0, "escape.link.environ");
	add(link_then_read, "/proc/1/root/etc/passwd", 0, 0, "escape.link.root");
	add(canary, "", 0, 0, "host.canary");
	add(canary, "/proc/self/root", 0, 0, "host.canary.proc-root");
	add(canary, "/proc/1/root", 0, 0, "host.canary.init-root");
	add(canary, "/proc/1/cwd/../../../../../..", 0, 0, "host.canary.init-cwd");
	add(canary_link, 0, 0, 0, "host.canary.link");
	add(step_out, 0, 0, 0, "escape.fchdir");
	add(beneath, "..", RESOLVE_BENEATH, 0, "escape.beneath");
	add(beneath, "/etc/shadow", RESOLVE_IN_ROOT, 0, "escape.in-root");
	add(beneath, "/proc/self/exe", RESOLVE_NO_MAGICLINKS, 0, "escape.no-magic");
	add(write_program, "/proc/self/exe", O_WRONLY, 0, "exe.write");
	add(write_program, "/proc/self/exe", O_RDWR, 0, "exe.rdwr");
	add(write_program, "/proc/self/exe", O_WRONLY | O_TRUNC, 0, "exe.trunc");
	add(write_program, "/proc/thread-self/exe", O_WRONLY, 0, "exe.thread");
	add(write_copy, 0, 0, 0, "exe.copy.file");
	add(write_copy, 0, 1, 0, "exe.copy.memfd");
}
