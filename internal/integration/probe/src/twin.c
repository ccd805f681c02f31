/* Twins run as root of name spaces of their own, over files of their own. */
#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *why)
{
	fprintf(stderr, "probe: no place for twins: %s\n", why);
	return 3;
}

/* The user of the host that the root here stands for; -1 when the map is not just one user. */
static long host_user(const char *file)
{
	char text[256];
	unsigned in, out, size, rest;
	if (read_text(file, text, sizeof text) <= 0)
		return -1;
	if (sscanf(text, "%u %u %u %u", &in, &out, &size, &rest) != 3 || in != 0 || size != 1)
		return -1;
	return out;
}

int twin_setup(void)
{
	if (getpid() != 1 || getppid() != 0)
		return refuse("this is not the first process of a PID name space");
	if (host_user("/proc/self/uid_map") <= 0 || host_user("/proc/self/gid_map") <= 0)
		return refuse("the user map is not one of root here to one other user outside");
	/* The parent has given a mount name space; one more costs nothing and makes sure. */
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return refuse("no mount name space of its own");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return refuse("no /proc of its own");
	return 0;
}

int twin_files(void)
{
	static const char *const dirs[] = {"/tmp/work", "/tmp/root", "/tmp/root/usr", "/tmp/root/etc", "/tmp/root/dev", "/tmp/root/run", "/tmp/root/bin"};
	if (mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=64m") < 0)
		return -errno;
	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
		if (mkdir(dirs[i], 0755) < 0)
			return -errno;
	/* Something to remount, to move and to unmount. */
	if (mount("none", "/tmp/root/usr", "tmpfs", MS_NOSUID | MS_NODEV, "size=16m") < 0)
		return -errno;
	if (mkdir("/tmp/root/usr/bin", 0755) < 0 || make_file("/tmp/root/usr/bin/env", "env", 0755) < 0 || make_file("/tmp/root/etc/passwd", "root", 0644) < 0)
		return -errno;
	return 0;
}
