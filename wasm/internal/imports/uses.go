package imports

import "strings"

var (
	useTable = sorted(uses())
	useRows  = index(useTable)
)

// uses are the rows of functions and classes. Those that are lacking are all that CPython 3.13 has on Linux and this
// tier has not, less what belongs to useless modules; the others are there and cannot work.
func uses() (rows []Row) {
	of := func(lacking bool) func(module, reason, names string) {
		return func(module, reason, names string) {
			for name := range strings.FieldsSeq(names) {
				rows = append(rows, Row{Name: module + "." + name, Kind: Use, Lacking: lacking, Reason: reason})
			}
		}
	}
	lacking, failing := of(true), of(false)
	lackingOfOS(lacking)
	failing("os", noProcesses, "execl execle execlp execlpe execvp execvpe popen")
	failing("os", "descriptors cannot be duplicated here", "dup")
	failing("shutil", noOwners, "chown")
	lacking("shutil", "this tier does not know the size of its disks", "disk_usage")

	failing("threading", noThreads, "Thread Timer")
	failing("_thread", noThreads, "start_joinable_thread start_new start_new_thread")
	lacking("threading", noThreads, "get_native_id")
	lacking("_thread", noThreads, "get_native_id")
	failing("concurrent.futures", noThreads, "ThreadPoolExecutor")
	failing("concurrent.futures", noProcesses, "ProcessPoolExecutor")
	failing("concurrent.futures.thread", noThreads, "ThreadPoolExecutor")
	failing("logging.handlers", noThreads, "QueueListener")
	failing("logging.handlers", noSockets, "DatagramHandler HTTPHandler SMTPHandler SocketHandler SysLogHandler")
	failing("logging.config", noSockets, "listen")

	failing("asyncio", noThreads, "to_thread")
	failing("asyncio.threads", noThreads, "to_thread")
	for _, module := range []string{"asyncio", "asyncio.subprocess"} {
		failing(module, noProcesses, "create_subprocess_exec create_subprocess_shell")
	}
	for _, module := range []string{"asyncio", "asyncio.streams"} {
		failing(module, noSockets, "open_connection start_server")
		lacking(module, noSockets, "open_unix_connection start_unix_server")
	}
	lacking("asyncio", noProcesses, "AbstractChildWatcher FastChildWatcher MultiLoopChildWatcher PidfdChildWatcher SafeChildWatcher ThreadedChildWatcher")

	lacking("signal", noSignals, `ItimerError alarm getitimer pause pidfd_send_signal pthread_kill pthread_sigmask setitimer siginterrupt sigpending
		sigtimedwait sigwait sigwaitinfo struct_siginfo valid_signals`)
	failing("faulthandler", noThreads, "dump_traceback_later")
	lacking("select", "this tier has no epoll", "epoll")
	lacking("selectors", "this tier has no epoll", "EpollSelector")
	lacking("time", "this tier has no time zone but UTC", "tzset")
	lacking("time", noThreads, "pthread_getcpuclockid thread_time thread_time_ns")
	lacking("time", "no clock can be set here", "clock_settime clock_settime_ns")
	lacking("hashlib", "this tier has no OpenSSL", "scrypt")
	lacking("locale", "this tier has no message catalogues of C", "bind_textdomain_codeset bindtextdomain dcgettext dgettext gettext textdomain")
	return rows
}

// lackingOfOS gives the functions that WASI has no call for.
func lackingOfOS(lacking func(module, reason, names string)) {
	lacking("os", noProcesses, `WCOREDUMP WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WSTOPSIG WTERMSIG execv execve fork forkpty getpgid
		getpgrp getppid getsid kill killpg pidfd_open pipe pipe2 posix_spawn posix_spawnp register_at_fork setpgid setpgrp setsid spawnl spawnle
		spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe system wait wait3 wait4 waitid waitid_result waitpid waitstatus_to_exitcode`)
	lacking("os", noTerminal, "ctermid grantpt login_tty openpty posix_openpt ptsname tcgetpgrp tcsetpgrp ttyname unlockpt")
	lacking("os", noOwners, "chown fchown lchown")
	lacking("os", "files have no permissions here", "fchmod umask")
	lacking("os", noAccounts, `getegid geteuid getgid getgrouplist getgroups getlogin getresgid getresuid getuid initgroups setegid seteuid setgid setgroups
		setregid setresgid setresuid setreuid setuid`)
	lacking("os", "files have no extended attributes here", "getxattr listxattr removexattr setxattr")
	lacking("os", noLocks, "lockf")
	lacking("os", "this tier has no such files", "major makedev minor mkfifo mknod")
	lacking("os", "nothing is scheduled here", `getloadavg getpriority nice sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getparam
		sched_getscheduler sched_param sched_rr_get_interval sched_setaffinity sched_setparam sched_setscheduler setpriority`)
	lacking("os", "this tier does not know the size of its disks", "fstatvfs statvfs")
	lacking("os", "this tier has no such call", `chroot copy_file_range dup2 eventfd eventfd_read eventfd_write fchdir fwalk getrandom memfd_create
		posix_fallocate preadv pwritev readv sendfile setns splice sync timerfd_create timerfd_gettime timerfd_gettime_ns timerfd_settime
		timerfd_settime_ns unshare writev`)
}

// useRow returns the row of a dotted path. The module posix is what os is made of.
func useRow(path string) *Row {
	if row := useRows[path]; row != nil {
		return row
	}
	if rest, ok := strings.CutPrefix(path, "posix."); ok {
		return useRows["os."+rest]
	}
	return nil
}

// memberRow returns the row of a name of a module.
func memberRow(module, name string) *Row { return useRow(module + "." + name) }
