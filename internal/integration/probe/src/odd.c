/* The rest: personalities, shared memory and queues, memory at zero, handlers of crashes, file system commands. */
#include "probe.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long persona(const struct row *r)
{
	return call(SYS_personality, r->a, 0, 0, 0, 0, 0);
}

static long raw_call(const struct row *r)
{
	return call(r->a, r->b, 0, 0, 0, 0, 0);
}

/* With a name of one byte, which is what it is set to when nothing refuses it. */
static long set_name(const struct row *r)
{
	return call(r->a, (long)"x", 1, 0, 0, 0, 0);
}

static long map_zero(const struct row *r)
{
	void *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	(void)r;
	return at == MAP_FAILED ? -errno : 0;
}

static long map_code(const struct row *r)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)r;
	return at == MAP_FAILED ? -errno : 0;
}

static long run_memfd(const struct row *r)
{
	int fd = memfd_create("probe", MFD_CLOEXEC);
	(void)r;
	return fd < 0 ? -errno : ret(fchmod(fd, 0755));
}

static long own_ipc(const struct row *r)
{
	long id;
	switch (r->a) {
	case 0:
		id = ret(shmget(IPC_PRIVATE, 4096, 0600));
		return id < 0 ? id : ret(shmctl(id, IPC_RMID, NULL));
	case 1:
		id = ret(msgget(IPC_PRIVATE, 0600));
		return id < 0 ? id : ret(msgctl(id, IPC_RMID, NULL));
	default:
		id = ret(semget(IPC_PRIVATE, 1, 0600));
		return id < 0 ? id : ret(semctl(id, 0, IPC_RMID));
	}
}

/* How many there are besides one's own: those of the host must not show. */
static long foreign_ipc(const struct row *r)
{
	struct shm_info shm;
	struct msginfo msg;
	struct seminfo sem;
	long n;
	if (r->a == 0)
		n = shmctl(0, SHM_INFO, (struct shmid_ds *)&shm) < 0 ? -errno : shm.used_ids;
	else if (r->a == 1)
		n = msgctl(0, MSG_INFO, (struct msqid_ds *)&msg) < 0 ? -errno : msg.msgpool;
	else
		n = semctl(0, 0, SEM_INFO, &sem) < 0 ? -errno : sem.semusz;
	return n < 0 ? n : say("%ld", n);
}

static long queue(const struct row *r)
{
	mqd_t q = mq_open("/probe", O_RDWR | O_CREAT | O_EXCL, 0600, NULL);
	long err = -errno;
	(void)r;
	if (q >= 0)
		mq_unlink("/probe");
	return q < 0 ? err : 0;
}

static long lock_shm(const struct row *r)
{
	int id = shmget(IPC_PRIVATE, 16 << 20, 0600);
	(void)r;
	long err = ret(shmctl(id, SHM_LOCK, NULL));
	shmctl(id, IPC_RMID, NULL);
	return err;
}

/* Commands to a file system, asked of a directory; b is their argument. */
static long fs_command(const struct row *r)
{
	int arg = r->b, fd = open(r->s, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : ret(ioctl(fd, r->a, &arg));
}

static long immutable(const struct row *r)
{
	long err = make_file(work("file"), "x", 0644);
	int flags = r->a, fd = open(work("file"), O_RDWR | O_CLOEXEC);
	return err < 0 ? err : ret(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static long watch(const struct row *r)
{
	int fd = fanotify_init(r->a, O_RDONLY);
	return fd < 0 ? -errno : ret(fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "/"));
}

static long watch_own(const struct row *r)
{
	(void)r;
	return ret(inotify_add_watch(inotify_init1(IN_CLOEXEC), work("."), IN_CREATE));
}

static long fault(const struct row *r)
{
	long fd = call(SYS_userfaultfd, r->a | O_CLOEXEC, 0, 0, 0, 0, 0);
	struct uffdio_api api = {.api = UFFD_API};
	return fd < 0 ? fd : ret(ioctl(fd, UFFDIO_API, &api));
}

static long lookup(const struct row *r)
{
	unsigned bpf_attr[36] = {0};
	return call(SYS_bpf, r->a, (long)bpf_attr, sizeof bpf_attr, 0, 0, 0);
}

static void crash(void)
{
	struct rlimit lim;
	getrlimit(RLIMIT_CORE, &lim);
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_CORE, &lim);
	signal(SIGSEGV, SIG_DFL);
	kill(getpid(), SIGSEGV);
}

/*
 * A crash must not start the host's handler of core files: core(5). A limit of 0 keeps a file from being written, but
 * a program that the core is piped to starts all the same; a limit of 1 keeps both away.
 */

static long dumps(const struct row *r)
{
	int status;
	char pattern[256] = "";
	(void)r;
	read_text("/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
	if (twin && pattern[0] == '|')
		return say("piped"); /* it is not for a test to start the host's */
	pid_t pid = fork();
	if (pid == 0) {
		if (chdir(work(".")) == 0)
			crash();
		_exit(1);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSIGNALED(status))
		return -EINVAL;
	return say(WCOREDUMP(status) ? "DUMPED" : "none");
}

static long swap_file(const struct row *r)
{
	long err = make_file(work("swap"), "x", 0600);
	return err < 0 ? err : call(r->a, (long)work("swap"), 0, 0, 0, 0, 0);
}

void add_odd(void)
{
	add(persona, 0, 0xffffffff, 0, "personality.ask");
	add(persona, 0, ADDR_NO_RANDOMIZE, 0, "personality.no-randomize");
	add(persona, 0, PER_LINUX32, 0, "personality.linux32");
	add(persona, 0, READ_IMPLIES_EXEC, 0, "personality.read-implies-exec");
	add(persona, 0, MMAP_PAGE_ZERO, 0, "personality.page-zero");
	add(persona, 0, ADDR_COMPAT_LAYOUT, 0, "personality.compat-layout");
	add(persona, 0, STICKY_TIMEOUTS | READ_IMPLIES_EXEC, 0, "personality.two");
	add(persona, 0, PER_BSD, 0, "personality.bsd");
	add(map_zero, 0, 0, 0, "memory.zero");
	add(map_code, 0, 0, 0, "memory.code");
	add(run_memfd, 0, 0, 0, "memory.memfd");
	add(raw_call, 0, SYS_memfd_secret, 0, "memory.secret");
	add(fault, 0, UFFD_USER_MODE_ONLY, 0, "memory.fault.user");
	add(fault, 0, 0, 0, "memory.fault.kernel");
	add(set_name, 0, SYS_sethostname, 0, "name.host");
	add(set_name, 0, SYS_setdomainname, 0, "name.domain");
	static const char *const kinds[] = {"shm", "msg", "sem"};
	for (int i = 0; i < 3; i++) {
		add(own_ipc, 0, i, 0, "ipc.own.%s", kinds[i]);
		add(foreign_ipc, 0, i, 0, "ipc.foreign.%s", kinds[i]);
	}
	add(queue, 0, 0, 0, "ipc.mqueue");
	add(lock_shm, 0, 0, 0, "ipc.shm.lock");
	add(fs_command, "/", FIFREEZE, 0, "fs.freeze.root");
	add(fs_command, ".", FIFREEZE, 0, "fs.freeze.work");
	add(fs_command, ".", FITRIM, 0, "fs.trim.work");
	add(fs_command, "/usr", FS_IOC_SETFLAGS, FS_NODUMP_FL, "fs.flags.usr");
	add(immutable, 0, FS_IMMUTABLE_FL, 0, "fs.immutable");
	add(immutable, 0, FS_APPEND_FL, 0, "fs.append-only");
	add(watch, 0, FAN_CLASS_NOTIF | 0x200, 0, "watch.fanotify");
	add(watch_own, 0, 0, 0, "watch.inotify");
	add(lookup, 0, 0, 0, "bpf.map-create");
	add(lookup, 0, 1, 0, "bpf.map-lookup");
	add(lookup, 0, 5, 0, "bpf.prog-load");
	add(lookup, 0, 11, 0, "bpf.next-id");
	add(swap_file, 0, SYS_swapon, 0, "kernel.swapon");
	add(swap_file, 0, SYS_acct, 0, "kernel.acct");
	add(dumps, 0, 0, 0, "core.dump");
}
