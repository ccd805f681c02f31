/* Signals to PID 1, to processes outside, and to all. PID 1 must be as before after each; a victim is not. */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The letter of a process's state, 0 when it is gone. */
static int state_of(pid_t pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (read_text(path, text, sizeof text) <= 0)
		return 0;
	char *end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

/* What err is, unless the target is no longer alive and running after a moment. */
static long unharmed(long err)
{
	for (int i = 0; i < 5; i++) {
		nap(10);
		int state = state_of(target());
		if (state == 0 || strchr("TtZX", state))
			return say("HARMED");
	}
	return err;
}

static long by_kill(const struct row *r)
{
	return unharmed(call(SYS_kill, target(), r->a, 0, 0, 0, 0));
}

static long by_tgkill(const struct row *r)
{
	return unharmed(call(SYS_tgkill, target(), target(), r->a, 0, 0, 0));
}

static long by_tkill(const struct row *r)
{
	return unharmed(call(SYS_tkill, target(), r->a, 0, 0, 0, 0));
}

/* A code below zero is a message of a process; SI_KERNEL says that the kernel sends it. */
static long by_queue(const struct row *r)
{
	siginfo_t info = {.si_signo = r->a, .si_code = r->b};
	info.si_pid = getpid();
	info.si_uid = getuid();
	return unharmed(call(SYS_rt_sigqueueinfo, target(), r->a, (long)&info, 0, 0, 0));
}

static long by_pidfd(const struct row *r)
{
	long fd = call(SYS_pidfd_open, target(), 0, 0, 0, 0, 0);
	return fd < 0 ? fd : unharmed(call(SYS_pidfd_send_signal, fd, r->a, 0, 0, 0, 0));
}

/* A descriptor tells its owner by a signal that there is something to read; who the owner is, the caller says. */
static long by_owner(const struct row *r)
{
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return -errno;
	if (fcntl(fds[0], F_SETSIG, r->a) < 0 || fcntl(fds[0], F_SETOWN, target()) < 0 || fcntl(fds[0], F_SETFL, O_ASYNC) < 0)
		return -errno;
	return write(fds[1], "x", 1) < 0 ? -errno : unharmed(0);
}

static long to_all(const struct row *r)
{
	return unharmed(call(SYS_kill, -1, r->a, 0, 0, 0, 0));
}

/* The first answer that is not ESRCH: a process of the host that can be named. */
static long to_host(const struct row *r)
{
	long err = -ESRCH;
	if (!opt.host_pids[0])
		return not_given();
	for (int i = 0; opt.host_pids[i] && err == -ESRCH; i++)
		err = call(r->a, opt.host_pids[i], 0, 0, 0, 0, 0);
	return err;
}

static long host_priority(const struct row *r)
{
	(void)r;
	return opt.host_pids[0] ? call(SYS_getpriority, 0, opt.host_pids[0], 0, 0, 0, 0) : not_given();
}

static long host_limit(const struct row *r)
{
	(void)r;
	return opt.host_pids[0] ? call(SYS_prlimit64, opt.host_pids[0], 0, 0, 0, 0, 0) : not_given();
}

static long host_proc(const struct row *r)
{
	char path[64];
	if (!opt.host_pids[0])
		return not_given();
	snprintf(path, sizeof path, "/proc/%d/%s", opt.host_pids[0], r->s);
	return ret(access(path, F_OK));
}

void add_signals(void)
{
	/* HARMED must not stand for a signal that a Go program, or any other, does not survive as PID 1. */
	static const struct { const char *name; int nr; } all[] = {
		{"HUP", SIGHUP}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"ILL", SIGILL}, {"TRAP", SIGTRAP}, {"ABRT", SIGABRT}, {"BUS", SIGBUS},
		{"FPE", SIGFPE}, {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"SEGV", SIGSEGV}, {"USR2", SIGUSR2}, {"PIPE", SIGPIPE},
		{"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"STKFLT", SIGSTKFLT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"TTIN", SIGTTIN},
		{"TTOU", SIGTTOU}, {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"IO", SIGIO},
		{"PWR", SIGPWR}, {"SYS", SIGSYS}, {"RTMIN", 34}, {"RTMAX", 64},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		add(by_kill, 0, all[i].nr, 0, "signal.kill.%s", all[i].name);
	add(by_tgkill, 0, SIGKILL, 0, "signal.tgkill.KILL");
	add(by_tgkill, 0, SIGSEGV, 0, "signal.tgkill.SEGV");
	add(by_tkill, 0, SIGSTOP, 0, "signal.tkill.STOP");
	add(by_queue, 0, SIGTERM, -1, "signal.queue.TERM");
	add(by_queue, 0, SIGSEGV, 0x80, "signal.queue.from-kernel");
	add(by_pidfd, 0, SIGKILL, 0, "signal.pidfd.KILL");
	add(by_pidfd, 0, SIGSTOP, 0, "signal.pidfd.STOP");
	add(by_owner, 0, SIGKILL, 0, "signal.owner.KILL");
	add(by_owner, 0, SIGTERM, 0, "signal.owner.TERM");
	/* To all that may be sent to: what does no harm only, as the probe is not alone. */
	add(to_all, 0, 0, 0, "signal.all.none");
	add(to_all, 0, SIGCONT, 0, "signal.all.CONT");
	add(to_host, 0, SYS_kill, 0, "host.kill");
	add(to_host, 0, SYS_pidfd_open, 0, "host.pidfd_open");
	add(to_host, 0, SYS_getsid, 0, "host.getsid");
	add(host_priority, 0, 0, 0, "host.getpriority");
	add(host_limit, 0, 0, 0, "host.prlimit");
	add(host_proc, "stat", 0, 0, "host.proc");
	add(host_proc, "root", 0, 0, "host.proc.root");
}
