/* Small helpers of the rows. */
#include "probe.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *errno_name(int err)
{
	return strerrorname_np(err) ?: "E?";
}

long ret(long r)
{
	return r == -1 ? -errno : r;
}

long call(long nr, long a, long b, long c, long d, long e, long f)
{
	return ret(syscall(nr, a, b, c, d, e, f));
}

long child(long (*fn)(void *), void *arg)
{
	long *result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED)
		return -errno;
	pid_t pid = fork();
	if (pid == 0) {
		*result = fn(arg);
		_exit(0);
	}
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFSIGNALED(status))
		return say("SIG%s", sigabbrev_np(WTERMSIG(status)));
	return *result;
}

long make_file(const char *path, const char *text, int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	long r = ret(write(fd, text, strlen(text)));
	close(fd);
	return r < 0 ? r : 0;
}

long read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	size_t n = 0;
	long r = 0;
	while (n < size - 1 && (r = read(fd, buf + n, size - 1 - n)) > 0)
		n += r;
	r = r < 0 ? -errno : (long)n;
	close(fd);
	buf[n] = 0;
	return r;
}

long write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	long r = ret(write(fd, text, strlen(text)));
	close(fd);
	return r;
}

long copy_self_to(int fd)
{
	struct stat st;
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	long r = in < 0 ? -errno : ret(fstat(in, &st));
	for (off_t done = 0; r >= 0 && done < st.st_size;)
		r = ret(sendfile(fd, in, &done, st.st_size - done)) ?: -EIO;
	close(in);
	return r;
}

long copy_self(const char *path, int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0)
		return -errno;
	long r = copy_self_to(fd);
	if (r >= 0)
		r = ret(fchmod(fd, mode));
	close(fd);
	return r;
}

void nap(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}
