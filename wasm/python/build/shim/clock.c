// Three functions in the place of wasi-libc's.
#define _WASI_EMULATED_PROCESS_CLOCKS
#include <errno.h>
#include <sys/times.h>
#include <time.h>
#include <wasi/api.h>

// clock gives the processor time of the run, which the host knows. wasi-libc's gives the time that has
// passed.
clock_t clock(void) {
  __wasi_timestamp_t now;
  if (__wasi_clock_time_get(__WASI_CLOCKID_PROCESS_CPUTIME_ID, 0, &now) != 0) {
    return (clock_t)-1;
  }
  return (clock_t)(now / (1000000000 / CLOCKS_PER_SEC));
}

// times counts in ticks of sysconf(_SC_CLK_TCK), 100 a second; wasi-libc's counts nanoseconds.
clock_t times(struct tms *t) {
  const clock_t tick = CLOCKS_PER_SEC / 100;
  *t = (struct tms){.tms_utime = clock() / tick};
  __wasi_timestamp_t now;
  if (__wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 0, &now) != 0) {
    return (clock_t)-1;
  }
  return (clock_t)(now / 10000000);
}

// clock_nanosleep: wasi-libc's makes ENOTSUP of every error, and an interrupted sleep would raise OSError
// in Python instead of KeyboardInterrupt. It returns an error number, as POSIX has it.
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *want, struct timespec *left) {
  if ((flags & ~TIMER_ABSTIME) != 0 || want->tv_nsec < 0 || want->tv_nsec >= 1000000000 || want->tv_sec < 0) {
    return EINVAL;
  }
  __wasi_clockid_t id;
  if (clock == CLOCK_REALTIME) {
    id = __WASI_CLOCKID_REALTIME;
  } else if (clock == CLOCK_MONOTONIC) {
    id = __WASI_CLOCKID_MONOTONIC;
  } else {
    return EINVAL;
  }
  __wasi_timestamp_t timeout;
  if (__builtin_mul_overflow((__wasi_timestamp_t)want->tv_sec, 1000000000u, &timeout) ||
      __builtin_add_overflow(timeout, (__wasi_timestamp_t)want->tv_nsec, &timeout)) {
    timeout = UINT64_MAX;
  }
  __wasi_subscription_t sub = {
      .u = {.tag = __WASI_EVENTTYPE_CLOCK,
            .u = {.clock = {.id = id,
                            .timeout = timeout,
                            .flags = flags & TIMER_ABSTIME ? __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME : 0}}}};
  __wasi_event_t event;
  __wasi_size_t count;
  __wasi_errno_t error = __wasi_poll_oneoff(&sub, &event, 1, &count);
  if (error == 0) {
    error = event.error;
  }
  if (error == EINTR && left != 0 && (flags & TIMER_ABSTIME) == 0) {
    // How much is left is not known; callers that care sleep to an absolute time.
    *left = (struct timespec){0, 0};
  }
  return error;
}

int __clock_nanosleep(clockid_t, int, const struct timespec *, struct timespec *)
    __attribute__((alias("clock_nanosleep")));
