/* What a process may do to another of the same user: to PID 1 inside, to a child of its own as a twin. */
#include "probe.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char here[64] = "a place to read from and to write to";

/* Where it works, the target is let go again: it would stay stopped. */
static long trace(const struct row *r)
{
	long err = call(SYS_ptrace, r->a, target(), 0, 0, 0, 0);
	if (err >= 0 && r->a == PTRACE_ATTACH) {
		waitpid(target(), NULL, __WALL);
		call(SYS_ptrace, PTRACE_DETACH, target(), 0, 0, 0, 0);
	}
	return err;
}

static long trace_me(void *arg)
{
	(void)arg;
	return call(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0, 0, 0);
}

static long trace_own_child(const struct row *r)
{
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	long err = call(SYS_ptrace, r->a, pid, 0, 0, 0, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return err;
}

static long be_traced(const struct row *r)
{
	(void)r;
	return child(trace_me, NULL);
}

static long trace_host(const struct row *r)
{
	if (!opt.host_pids[0])
		return not_given();
	return call(SYS_ptrace, r->a, opt.host_pids[0], 0, 0, 0, 0);
}

static long memory(const struct row *r)
{
	char buf[16] = "";
	struct iovec local = {buf, sizeof buf}, remote = {here, sizeof buf};
	pid_t pid = r->b ? getpid() : target();
	return call(r->a, pid, (long)&local, 1, (long)&remote, 1, 0);
}

static long advise(const struct row *r)
{
	struct iovec page = {(void *)((uintptr_t)here & ~4095ul), 4096};
	long fd = call(SYS_pidfd_open, target(), 0, 0, 0, 0, 0);
	return fd < 0 ? fd : call(SYS_process_madvise, fd, (long)&page, 1, r->a, 0, 0);
}

static long take_fd(const struct row *r)
{
	long fd = call(SYS_pidfd_open, target(), 0, 0, 0, 0, 0);
	return fd < 0 ? fd : call(SYS_pidfd_getfd, fd, r->a, 0, 0, 0, 0);
}

static long compare(const struct row *r)
{
	return call(SYS_kcmp, getpid(), target(), r->a, 0, 0, 0);
}

static long robust_list(const struct row *r)
{
	void *head;
	size_t size;
	(void)r;
	return call(SYS_get_robust_list, target(), (long)&head, (long)&size, 0, 0, 0);
}

static long pages(const struct row *r)
{
	unsigned long node = 1;
	void *page = (void *)((uintptr_t)here & ~4095ul);
	int status;
	if (r->a == SYS_migrate_pages)
		return call(r->a, target(), 2, (long)&node, (long)&node, 0, 0);
	return call(r->a, target(), 1, (long)&page, 0, (long)&status, 0);
}

static long measure(const struct row *r)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK};
	attr.exclude_kernel = attr.exclude_hv = 1;
	return call(SYS_perf_event_open, (long)&attr, r->a ? target() : 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

/* The limit that another process has is set to what it is already, so nothing comes of it. */
static long limit_of(const struct row *r)
{
	struct rlimit64 lim;
	long err = call(SYS_prlimit64, target(), RLIMIT_CORE, 0, (long)&lim, 0, 0);
	return err < 0 || !r->a ? err : call(SYS_prlimit64, target(), RLIMIT_CORE, (long)&lim, 0, 0, 0);
}

static long nice_of(const struct row *r)
{
	(void)r;
	errno = 0;
	int n = getpriority(PRIO_PROCESS, target());
	return errno ? -errno : ret(setpriority(PRIO_PROCESS, target(), n));
}

static long affinity_of(const struct row *r)
{
	cpu_set_t set;
	(void)r;
	if (sched_getaffinity(target(), sizeof set, &set) < 0)
		return -errno;
	return ret(sched_setaffinity(target(), sizeof set, &set));
}

static long policy_of(const struct row *r)
{
	struct sched_param param = {.sched_priority = r->a == SCHED_OTHER ? 0 : 1};
	return ret(sched_setscheduler(target(), r->a, &param));
}

static long io_prio_of(const struct row *r)
{
	return call(SYS_ioprio_set, 1, target(), r->a, 0, 0, 0);
}

static long session_of(const struct row *r)
{
	return r->a ? ret(setpgid(0, target())) : ret(setpgid(target(), 0));
}

/* Keys belong to a user, and the kernel has one name space of users for them. */
static long keys(const struct row *r)
{
	switch (r->a) {
	case 0:
		return call(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1, 0, 0, 0);
	case 1:
		return call(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1, 0, 0, 0);
	case 2:
		return call(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, (long)"probe", 0, 0, 0, 0);
	case 3:
		return call(SYS_add_key, (long)"user", (long)"probe", (long)"x", 1, KEY_SPEC_PROCESS_KEYRING, 0);
	default: /* there is none: ENOKEY is what a working call says */
		return call(SYS_request_key, (long)"user", (long)"probe-none", 0, KEY_SPEC_PROCESS_KEYRING, 0, 0);
	}
}

void add_process(void)
{
	add(trace, 0, PTRACE_ATTACH, 0, "ptrace.attach");
	add(trace, 0, PTRACE_SEIZE, 0, "ptrace.seize");
	add(be_traced, 0, 0, 0, "ptrace.traceme");
	add(trace_own_child, 0, PTRACE_SEIZE, 0, "ptrace.own-child");
	add(trace_host, 0, PTRACE_SEIZE, 0, "host.ptrace");
	add(memory, 0, SYS_process_vm_readv, 0, "process.vm_readv");
	add(memory, 0, SYS_process_vm_writev, 0, "process.vm_writev");
	add(memory, 0, SYS_process_vm_readv, 1, "process.vm_readv.self");
	add(advise, 0, MADV_COLD, 0, "process.madvise");
	add(take_fd, 0, 0, 0, "process.getfd.0");
	add(take_fd, 0, 1, 0, "process.getfd.1");
	add(compare, 0, KCMP_FILES, 0, "process.kcmp");
	add(robust_list, 0, 0, 0, "process.robust_list");
	add(pages, 0, SYS_migrate_pages, 0, "process.migrate_pages");
	add(pages, 0, SYS_move_pages, 0, "process.move_pages");
	add(measure, 0, 1, 0, "process.perf");
	add(measure, 0, 0, 0, "process.perf.self");
	add(limit_of, 0, 0, 0, "process.rlimit.get");
	add(limit_of, 0, 1, 0, "process.rlimit.set");
	add(nice_of, 0, 0, 0, "process.nice");
	add(affinity_of, 0, 0, 0, "process.affinity");
	add(policy_of, 0, SCHED_OTHER, 0, "process.scheduler.same");
	add(policy_of, 0, SCHED_FIFO, 0, "process.scheduler.fifo");
	add(io_prio_of, 0, 2 << 13 | 4, 0, "process.ioprio.same");
	add(io_prio_of, 0, 1 << 13 | 4, 0, "process.ioprio.realtime");
	add(session_of, 0, 0, 0, "process.setpgid");
	add(session_of, 0, 1, 0, "process.join-group");
	static const char *const key_calls[] = {"session", "user", "join", "add", "request"};
	for (int i = 0; i < 5; i++)
		add(keys, 0, i, 0, "keyring.%s", key_calls[i]);
}
