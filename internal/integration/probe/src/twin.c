/* Twins run as root of name spaces of their own, over files of their own. */
#include "probe.h"

#include <arpa/inet.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <net/route.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
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

/* The tree that sys() leads to. */
static int make_files(void)
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

/* A network whose loopback has the addresses that rows ask for, and the only route. */
static int make_network(void)
{
	static const char *const addrs[] = {"203.0.113.1", "169.254.169.254", "10.0.0.1"};
	struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	struct rtentry route = {.rt_flags = RTF_UP, .rt_dev = (char *)"lo"};
	route.rt_dst.sa_family = route.rt_genmask.sa_family = route.rt_gateway.sa_family = AF_INET;
	struct in6_ifreq six = {.ifr6_ifindex = 1, .ifr6_prefixlen = 128}; /* lo is the first everywhere */
	inet_pton(AF_INET6, "2001:db8::1", &six.ifr6_addr);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = ioctl(fd, SIOCSIFFLAGS, &req) < 0 ? -errno : 0;
	for (int i = 0; i < 3; i++) {
		struct ifreq alias;
		struct sockaddr_in *at = (struct sockaddr_in *)&alias.ifr_addr;
		memset(&alias, 0, sizeof alias);
		snprintf(alias.ifr_name, sizeof alias.ifr_name, "lo:%d", i + 1);
		at->sin_family = AF_INET;
		inet_pton(AF_INET, addrs[i], &at->sin_addr);
		if (ioctl(fd, SIOCSIFADDR, &alias) < 0)
			err = -errno;
	}
	if (ioctl(fd, SIOCADDRT, &route) < 0)
		err = -errno;
	ioctl(fd6, SIOCSIFADDR, &six); /* there may be no IPv6 */
	close(fd);
	close(fd6);
	return err;
}

/* A network costs milliseconds, so that only the rows about it get one each. */
int twin_row(const char *id)
{
	int net = !strncmp(id, "net.", 4);
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | (net ? CLONE_NEWNET : 0)) < 0)
		return -errno;
	return make_files() ?: net ? make_network() : 0;
}
