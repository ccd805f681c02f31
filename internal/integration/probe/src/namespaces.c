/* Ways into other and into new name spaces. */
#include "probe.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sched.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static long try_unshare(const struct row *r)
{
	return call(SYS_unshare, r->a, 0, 0, 0, 0, 0);
}

/* The child of a clone call ends at once. */
static long reap(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, __WALL);
	return pid;
}

static long try_clone(const struct row *r)
{
	return reap(call(SYS_clone, r->a | SIGCHLD, 0, 0, 0, 0, 0));
}

static long try_clone3(const struct row *r)
{
	struct clone_args args = {.flags = r->a, .exit_signal = SIGCHLD};
	return reap(call(SYS_clone3, (long)&args, r->b, 0, 0, 0, 0));
}

static void *nothing(void *arg)
{
	return arg;
}

/* The C library asks for clone3 first and must fall back. */
static long try_thread(const struct row *r)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, nothing, NULL);
	(void)r;
	return err ? -err : -pthread_join(thread, NULL);
}

static long open_ns(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, name);
	return ret(open(path, O_RDONLY | O_CLOEXEC));
}

/* Only to open it is refused: the process is none that may be looked into. */
static long open_target_ns(const struct row *r)
{
	return open_ns(target(), r->s);
}

static long enter_own_ns(const struct row *r)
{
	long fd = open_ns(getpid(), r->s);
	return fd < 0 ? fd : call(SYS_setns, fd, 0, 0, 0, 0, 0);
}

static long enter_by_pidfd(const struct row *r)
{
	long fd = call(SYS_pidfd_open, target(), 0, 0, 0, 0, 0);
	return fd < 0 ? fd : call(SYS_setns, fd, r->a, 0, 0, 0, 0);
}

/* The name space above or beside one's own. */
static long try_ns_ioctl(const struct row *r)
{
	long fd = open_ns(getpid(), r->s);
	return fd < 0 ? fd : ret(ioctl(fd, r->a));
}

/* A mount name space has a number, by which 6.8 and later find it and 6.12 and later open its neighbours. */
static long try_ns_next(const struct row *r)
{
	struct { uint32_t size, nr_mounts; uint64_t id; } info = {.size = sizeof info};
	long fd = open_ns(getpid(), "mnt");
	return fd < 0 ? fd : ret(ioctl(fd, _IOC(_IOC_READ, 0xb7, r->a, sizeof info), &info));
}

static long target_root(const struct row *r)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", target(), r->s);
	return ret(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void add_namespaces(void)
{
	static const struct { const char *name; long flag; } kinds[] = {
		{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS}, {"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET},
		{"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP}, {"time", CLONE_NEWTIME},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const char *name = kinds[i].name;
		long flag = kinds[i].flag;
		add(try_unshare, 0, flag, 0, "unshare.%s", name);
		add(open_target_ns, name, 0, 0, "setns.open.%s", name);
		add(enter_own_ns, name, 0, 0, "setns.own.%s", name);
		if (flag == CLONE_NEWTIME) /* no flag of clone: its bit is part of the signal */
			continue;
		add(try_clone, 0, flag, 0, "clone.%s", name);
		add(try_clone3, 0, flag, CLONE_ARGS_SIZE_VER0, "clone3.%s", name);
	}
	add(try_unshare, 0, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET, 0, "unshare.all");
	add(try_unshare, 0, CLONE_NEWUSER | CLONE_FS, 0, "unshare.user+fs");
	add(try_unshare, 0, CLONE_FILES, 0, "unshare.files");
	add(try_unshare, 0, CLONE_FS, 0, "unshare.fs");
	add(try_clone, 0, CLONE_NEWUSER | CLONE_NEWNS, 0, "clone.user+mnt");
	add(try_clone, 0, CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC, 0, "clone.user+net+ipc");
	add(try_clone, 0, 1L << 32 | CLONE_NEWUSER, 0, "high.clone");
	add(try_clone, 0, 0, 0, "clone.plain");
	add(try_clone3, 0, 0, CLONE_ARGS_SIZE_VER0, "clone3.plain");
	add(try_clone3, 0, CLONE_NEWUSER, 4096, "clone3.large");
	add(try_thread, 0, 0, 0, "clone.thread");
	add(enter_by_pidfd, 0, CLONE_NEWNS, 0, "setns.pidfd.mnt");
	add(enter_by_pidfd, 0, CLONE_NEWNET | CLONE_NEWIPC, 0, "setns.pidfd.net+ipc");
	add(try_ns_ioctl, "user", NS_GET_PARENT, 0, "ns.parent.user");
	add(try_ns_ioctl, "pid", NS_GET_PARENT, 0, "ns.parent.pid");
	add(try_ns_ioctl, "net", NS_GET_USERNS, 0, "ns.owner.net");
	add(try_ns_next, 0, 11, 0, "ns.mnt.next");
	add(try_ns_next, 0, 12, 0, "ns.mnt.previous");
	add(target_root, "root", 0, 0, "ns.root");
	add(target_root, "cwd", 0, 0, "ns.cwd");
}
