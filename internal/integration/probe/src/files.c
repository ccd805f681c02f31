/* Changes to files and directories that are not the script's. */
#include "probe.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A file of one's own to give or to move. */
static const char *mine(void)
{
	make_file(work("mine"), "mine", 0644);
	return work("mine");
}

static int reading(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) < 0 ? 0 : st.st_mode & 07777;
}

static long size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) < 0 ? 0 : st.st_size;
}

/*
 * Each op tries to change the file p of the system. Where a change can be to what is there already, it is: the
 * checks of the kernel are the same. What would do harm is done only when run_guarded has seen a refusal.
 */
static long f_write(const char *p) { return ret(open(p, O_WRONLY | O_CLOEXEC)); }
static long f_rdwr(const char *p) { return ret(open(p, O_RDWR | O_CLOEXEC)); }
static long f_append(const char *p) { return ret(open(p, O_WRONLY | O_APPEND | O_CLOEXEC)); }
static long f_trunc(const char *p) { return ret(open(p, O_RDONLY | O_TRUNC | O_CLOEXEC)); }
static long f_truncate(const char *p) { return ret(truncate(p, size_of(p))); }
static long f_chmod(const char *p) { return ret(chmod(p, mode_of(p))); }
static long f_fchmod(const char *p) { return ret(fchmod(reading(p), mode_of(p))); }
static long f_fchmodat2(const char *p) { return call(452, AT_FDCWD, (long)p, mode_of(p), AT_SYMLINK_NOFOLLOW, 0, 0); }
static long f_chown(const char *p) { return ret(chown(p, getuid(), getgid())); }
static long f_fchown(const char *p) { return ret(fchown(reading(p), getuid(), getgid())); }
static long f_utimes(const char *p) { return ret(utimensat(AT_FDCWD, p, NULL, 0)); }
static long f_futimes(const char *p) { return ret(futimens(reading(p), NULL)); }
static long f_setxattr(const char *p) { return ret(setxattr(p, "user.probe", "x", 1, 0)); }
static long f_trusted(const char *p) { return ret(setxattr(p, "trusted.probe", "x", 1, 0)); }
static long f_unlink(const char *p) { return ret(unlink(p)); }
static long f_replace(const char *p) { return ret(rename(mine(), p)); }
static long f_take(const char *p) { return ret(rename(p, work("taken"))); }
static long f_aside(const char *p) { char to[300]; snprintf(to, sizeof to, "%s.old", p); return ret(rename(p, to)); }
static long f_exchange(const char *p) { return call(SYS_renameat2, AT_FDCWD, (long)mine(), AT_FDCWD, (long)p, RENAME_EXCHANGE, 0); }
static long f_link(const char *p) { return ret(link(p, work("linked"))); }
static long f_link_fd(const char *p) { return ret(linkat(reading(p), "", AT_FDCWD, work("linked"), AT_EMPTY_PATH)); }
static long f_ftruncate(const char *p) { return ret(ftruncate(reading(p), size_of(p))); }
static long f_fallocate(const char *p) { return ret(fallocate(reading(p), 0, 0, 1 << 20)); }
static long f_bind(const char *p) { return ret(mknod(p, S_IFREG | 0644, 0)); }

static long f_flags(const char *p)
{
	int flags = 0, fd = reading(p);
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return -errno;
	return ret(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static long f_map(const char *p)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reading(p), 0);
	return at == MAP_FAILED ? -errno : 0;
}

static long f_protect(const char *p)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, reading(p), 0);
	return at == MAP_FAILED ? -errno : ret(mprotect(at, 4096, PROT_READ | PROT_WRITE));
}

/* The descriptor of a file that may only be named is opened again by another path. */
static long f_reopen(const char *p)
{
	char path[64];
	int fd = open(p, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return ret(open(path, O_RDWR | O_CLOEXEC));
}

static long f_symlink(const char *p)
{
	return symlink(p, work("link")) < 0 ? -errno : ret(open(work("link"), O_WRONLY | O_CLOEXEC));
}

static long f_copy_range(const char *p)
{
	int from = reading(mine()), to = reading(p);
	return ret(copy_file_range(from, NULL, to, NULL, 4, 0));
}

static const struct file_op { const char *name; long (*run)(const char *); } file_ops[] = {
	{"write", f_write}, {"rdwr", f_rdwr}, {"append", f_append}, {"trunc", f_trunc}, {"truncate", f_truncate}, {"chmod", f_chmod},
	{"fchmod", f_fchmod}, {"fchmodat2", f_fchmodat2}, {"chown", f_chown}, {"fchown", f_fchown}, {"utimes", f_utimes}, {"futimes", f_futimes},
	{"setxattr", f_setxattr}, {"trusted", f_trusted}, {"unlink", f_unlink}, {"replace", f_replace}, {"take", f_take}, {"aside", f_aside},
	{"exchange", f_exchange}, {"link", f_link}, {"link-fd", f_link_fd}, {"ftruncate", f_ftruncate}, {"fallocate", f_fallocate},
	{"flags", f_flags}, {"mknod-over", f_bind}, {"mmap", f_map}, {"mprotect", f_protect}, {"reopen", f_reopen}, {"symlink", f_symlink},
	{"copy-range", f_copy_range},
};

static const char *entry(const char *dir)
{
	static char path[300];
	snprintf(path, sizeof path, "%s/probe-was-here", dir);
	return path;
}

/* Each op puts something into the directory d of the system, or changes it. */
static long d_create(const char *d) { return ret(open(entry(d), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)); }
static long d_tmpfile(const char *d) { return ret(open(d, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644)); }
static long d_mkdir(const char *d) { return ret(mkdir(entry(d), 0755)); }
static long d_symlink(const char *d) { return ret(symlink("/", entry(d))); }
static long d_fifo(const char *d) { return ret(mkfifo(entry(d), 0644)); }
static long d_link(const char *d) { return ret(link(mine(), entry(d))); }
static long d_rename(const char *d) { return ret(rename(mine(), entry(d))); }
static long d_chmod(const char *d) { return ret(chmod(d, mode_of(d))); }
static long d_chown(const char *d) { return ret(chown(d, getuid(), getgid())); }
static long d_setxattr(const char *d) { return ret(setxattr(d, "user.probe", "x", 1, 0)); }
static long d_utimes(const char *d) { return ret(utimensat(AT_FDCWD, d, NULL, 0)); }
static long d_rename_dir(const char *d) { return ret(rename(d, work("moved"))); }

static long d_socket(const char *d)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	snprintf(addr.sun_path, sizeof addr.sun_path, "%s/probe-socket", d);
	return ret(bind(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), (struct sockaddr *)&addr, sizeof addr));
}

static const struct file_op dir_ops[] = {
	{"create", d_create}, {"tmpfile", d_tmpfile}, {"mkdir", d_mkdir}, {"symlink", d_symlink}, {"fifo", d_fifo}, {"socket", d_socket},
	{"link", d_link}, {"rename", d_rename}, {"chmod", d_chmod}, {"chown", d_chown}, {"setxattr", d_setxattr}, {"utimes", d_utimes},
	{"rename-dir", d_rename_dir},
};

/* Takes away what an op has put into d. */
static void clean(const char *d)
{
	char path[300];
	if (unlink(entry(d)) < 0)
		rmdir(entry(d));
	snprintf(path, sizeof path, "%s/probe-socket", d);
	unlink(path);
	removexattr(d, "user.probe");
}

/* Whether something can be made in d; a harmless way to find out. */
static int is_open(const char *d)
{
	if (mkdir(entry(d), 0755) < 0)
		return 0;
	rmdir(entry(d));
	return 1;
}

/* A sandbox that lets this write into the system takes no harm from the ops: they are not run then. */
static long run_guarded(const struct file_op *op, const char *path)
{
	char parent[300] = "/";
	int length = strrchr(path, '/') - path;
	if (length > 0)
		snprintf(parent, sizeof parent, "%.*s", length, path);
	if (!twin && (access(path, W_OK) == 0 || is_open(path) || is_open(parent)))
		return say("WRITABLE");
	long err = op->run(path);
	clean(path);
	return err;
}

static long run_file_op(const struct row *r)
{
	return run_guarded(&file_ops[r->a], sys(r->s));
}

static long run_dir_op(const struct row *r)
{
	return run_guarded(&dir_ops[r->a], sys(r->s));
}

/* The same in a place that is the script's: the whole of it must work, so that a refusal above means something. */
static long own_file_op(const struct row *r)
{
	long err = make_file(work("own"), "own", 0644);
	return err < 0 ? err : file_ops[r->a].run(work("own"));
}

static long own_dir_op(const struct row *r)
{
	return dir_ops[r->a].run(work("."));
}

static long create_in(const struct row *r)
{
	long fd = d_create(r->s);
	unlink(entry(r->s));
	return fd;
}

void add_files(void)
{
	static const struct { const char *name, *path; } files[] = {{"usr", "/usr/bin/env"}, {"etc", "/etc/passwd"}};
	static const struct { const char *name, *path; } dirs[] = {{"usr", "/usr"}, {"usr-bin", "/usr/bin"}, {"etc", "/etc"}, {"root", "/"}, {"dev", "/dev"}, {"run", "/run"}, {"bin", "/bin"}};
	for (size_t op = 0; op < sizeof file_ops / sizeof file_ops[0]; op++)
		for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
			add(run_file_op, files[i].path, op, 0, "file.%s.%s", file_ops[op].name, files[i].name);
	for (size_t op = 0; op < sizeof dir_ops / sizeof dir_ops[0]; op++)
		for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
			add(run_dir_op, dirs[i].path, op, 0, "dir.%s.%s", dir_ops[op].name, dirs[i].name);
	for (size_t op = 0; op < sizeof file_ops / sizeof file_ops[0]; op++)
		add(own_file_op, 0, op, 0, "own.file.%s", file_ops[op].name);
	for (size_t op = 0; op + 1 < sizeof dir_ops / sizeof dir_ops[0]; op++) /* a directory cannot move into itself */
		add(own_dir_op, 0, op, 0, "own.dir.%s", dir_ops[op].name);
	add(create_in, "/tmp", 0, 0, "own.create.tmp");
	add(create_in, "/dev/shm", 0, 0, "own.create.shm");
	add(create_in, "/dev/pts", 0, 0, "dir.create.dev-pts");
	add(create_in, "/proc", 0, 0, "dir.create.proc");
	add(create_in, "/proc/self", 0, 0, "dir.create.proc-self");
	add(create_in, "/proc/self/fd", 0, 0, "dir.create.proc-self-fd");
}
