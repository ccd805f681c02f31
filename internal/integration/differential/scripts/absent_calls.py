import os, signal, time

names = ["chmod", "chown", "dup2", "fork", "fwalk", "getpid", "getppid", "getuid", "kill", "link", "mkfifo", "pipe", "posix_spawn", "pread", "sched_getaffinity", "statvfs", "symlink", "sync", "system", "umask", "urandom", "utime", "wait", "writev"]
print(" ".join(n for n in names if not hasattr(os, n)))
print(" ".join(n for n in ("alarm", "pause", "raise_signal", "setitimer", "sigwait") if not hasattr(signal, n)))
print(" ".join(n for n in ("clock_gettime", "monotonic", "perf_counter", "process_time", "thread_time", "tzset") if not hasattr(time, n)))
print(os.listdir in os.supports_fd, os.scandir in os.supports_fd, os.stat("/tmp").st_blksize > 0)
