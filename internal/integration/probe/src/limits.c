/* Limits that cannot be raised, and shares of the machine that cannot be taken. */
#include "probe.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static const struct { const char *name; int number; } limits[] = {
	{"cpu", RLIMIT_CPU}, {"fsize", RLIMIT_FSIZE}, {"data", RLIMIT_DATA}, {"stack", RLIMIT_STACK}, {"core", RLIMIT_CORE}, {"nproc", RLIMIT_NPROC},
	{"nofile", RLIMIT_NOFILE}, {"memlock", RLIMIT_MEMLOCK}, {"as", RLIMIT_AS}, {"locks", RLIMIT_LOCKS}, {"sigpending", RLIMIT_SIGPENDING},
	{"msgqueue", RLIMIT_MSGQUEUE}, {"nice", RLIMIT_NICE}, {"rtprio", RLIMIT_RTPRIO}, {"rttime", RLIMIT_RTTIME},
};

/* Raises the hard limit by one. One that has no limit says so. A twin sets one first. */
static long raise_limit(const struct row *r)
{
	struct rlimit64 lim;
	long err = call(SYS_prlimit64, 0, r->a, 0, (long)&lim, 0, 0);
	if (err < 0)
		return err;
	if (lim.rlim_max == RLIM64_INFINITY)
		return say("unlimited");
	lim.rlim_max++;
	return call(SYS_prlimit64, 0, r->a, (long)&lim, 0, 0, 0);
}

/* What was given up does not come back. */
static long regain_limit(const struct row *r)
{
	struct rlimit64 lim;
	long err = call(SYS_prlimit64, 0, r->a, 0, (long)&lim, 0, 0);
	if (err < 0)
		return err;
	if (lim.rlim_max == 0)
		return say("zero");
	lim.rlim_max = lim.rlim_max == RLIM64_INFINITY ? 1UL << 40 : lim.rlim_max - 1;
	if (lim.rlim_cur > lim.rlim_max)
		lim.rlim_cur = lim.rlim_max;
	err = call(SYS_prlimit64, 0, r->a, (long)&lim, 0, 0, 0);
	lim.rlim_max++;
	return err < 0 ? err : call(SYS_prlimit64, 0, r->a, (long)&lim, 0, 0, 0);
}

static long policy(const struct row *r)
{
	struct sched_param param = {.sched_priority = r->b};
	return ret(sched_setscheduler(0, r->a, &param));
}

static long deadline(const struct row *r)
{
	/* struct sched_attr, which the headers of C libraries have at different places */
	struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; } attr = {
		.size = 48, .policy = 6, .runtime = 1000000, .deadline = 10000000, .period = 10000000};
	(void)r;
	return call(SYS_sched_setattr, 0, (long)&attr, 0, 0, 0, 0);
}

static long priority(const struct row *r)
{
	return ret(setpriority(r->a, 0, r->b));
}

static long io_priority(const struct row *r)
{
	return call(SYS_ioprio_set, 1, 0, r->a, 0, 0, 0);
}

/* More than can be locked: the limit answers before anything is read in. */
static long lock_memory(const struct row *r)
{
	void *at = mmap(NULL, r->a, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	return call(SYS_mlock2, (long)at, r->a, 1 /* as it is touched */, 0, 0, 0);
}

static long core_limit(const struct row *r)
{
	struct rlimit lim;
	(void)r;
	return getrlimit(RLIMIT_CORE, &lim) < 0 ? -errno : say("%ld:%ld", (long)lim.rlim_cur, (long)lim.rlim_max);
}

static long clock_call(const struct row *r)
{
	struct timeval bad = {0, -1};
	struct timespec bad_ns = {0, -1};
	char timex[256] = {0}; /* no modes: a question */
	switch (r->a) {
	case SYS_settimeofday:
		return call(r->a, (long)&bad, 0, 0, 0, 0, 0);
	case SYS_clock_settime:
		return call(r->a, r->b, (long)&bad_ns, 0, 0, 0, 0);
	case SYS_clock_adjtime:
		return call(r->a, 0, (long)timex, 0, 0, 0, 0);
	default:
		if (r->b)
			memcpy(timex, &r->b, 4);
		return call(r->a, (long)timex, 0, 0, 0, 0, 0);
	}
}

void add_limits(void)
{
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		add(raise_limit, 0, limits[i].number, 0, "rlimit.raise.%s", limits[i].name);
		add(regain_limit, 0, limits[i].number, 0, "rlimit.regain.%s", limits[i].name);
	}
	add(core_limit, 0, 0, 0, "rlimit.core");
	add(policy, 0, SCHED_FIFO, 1, "sched.fifo");
	add(policy, 0, SCHED_RR, 99, "sched.rr");
	add(policy, 0, SCHED_BATCH, 0, "sched.batch");
	add(deadline, 0, 0, 0, "sched.deadline");
	add(priority, 0, PRIO_PROCESS, -1, "sched.nice.process");
	add(priority, 0, PRIO_PGRP, -20, "sched.nice.group");
	add(priority, 0, PRIO_USER, -20, "sched.nice.user");
	add(priority, 0, PRIO_PROCESS, 19, "sched.nice.down");
	add(io_priority, 0, 1 << 13, 0, "sched.ioprio.realtime");
	add(io_priority, 0, 3 << 13, 0, "sched.ioprio.idle");
	add(lock_memory, 0, 64L << 30, 0, "memory.lock");
	add(clock_call, 0, SYS_settimeofday, 0, "clock.settimeofday");
	add(clock_call, 0, SYS_clock_settime, 0, "clock.settime.realtime");
	add(clock_call, 0, SYS_clock_settime, 1, "clock.settime.monotonic");
	add(clock_call, 0, SYS_clock_adjtime, 0, "clock.adjtime");
	add(clock_call, 0, SYS_adjtimex, 0, "clock.adjtimex.ask");
	add(clock_call, 0, SYS_adjtimex, 0x4000, "clock.adjtimex.tick");
}
