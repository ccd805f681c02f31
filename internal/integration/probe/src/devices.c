/* Device nodes: those that must be absent, those that must work, and those that one could make. */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Opening a watchdog starts it, so that one is only looked for. */
static long open_device(const struct row *r)
{
	if (r->a) {
		struct stat st;
		return ret(lstat(r->s, &st));
	}
	return ret(open(r->s, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static long use_device(const struct row *r)
{
	char buf[4];
	int fd = open(r->s, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (r->a == 'w')
		return ret(write(fd, "x", 1));
	long n = ret(read(fd, buf, sizeof buf));
	return n == 0 ? say("EMPTY") : n;
}

/* If a node can be made, does it open? */
static long make_node(const struct row *r)
{
	const char *path = r->s ? r->s : work("node");
	if (mknod(path, r->a | 0666, r->b) < 0)
		return -errno;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	long err = -errno;
	unlink(path);
	return fd >= 0 ? 0 : say("made:%s", errno_name(-err));
}

static long rename_null(const struct row *r)
{
	if (!twin && mkdir("/dev/probe-was-here", 0755) == 0) {
		rmdir("/dev/probe-was-here");
		return say("WRITABLE");
	}
	return ret(rename("/dev/null", r->s));
}

void add_devices(void)
{
	static const char *const absent[] = {
		"mem", "kmem", "port", "kmsg", "kvm", "fuse", "cuse", "net/tun", "vhost-net", "vhost-vsock", "vsock", "userfaultfd",
		"sda", "vda", "nvme0n1", "xvda", "loop0", "loop-control", "mapper/control", "btrfs-control", "autofs", "zram0", "nbd0", "sg0",
		"console", "tty0", "tty1", "ttyS0", "vcs", "vcsa", "input/event0", "uinput", "uhid", "hidraw0", "dri/card0", "snd/control",
		"cpu/0/msr", "cpu/0/cpuid", "cpu_dma_latency", "hpet", "rtc0", "nvram", "hwrng", "snapshot", "sgx_enclave", "sev", "iommu", "vfio/vfio",
		"binder", "mqueue", "hugepages", "log", "initctl", "bus", "char", "block", "disk",
	};
	char *path;
	for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
		if (asprintf(&path, "/dev/%s", absent[i]) > 0)
			add(open_device, path, 0, 0, "device.absent.%s", absent[i]);
	add(open_device, "/dev/watchdog", 1, 0, "device.absent.watchdog");
	add(open_device, "/dev/tty", 0, 0, "device.tty");
	add(use_device, "/dev/null", 'w', 0, "device.null.write");
	add(use_device, "/dev/null", 'r', 0, "device.null.read");
	add(use_device, "/dev/zero", 'r', 0, "device.zero");
	add(use_device, "/dev/full", 'w', 0, "device.full");
	add(use_device, "/dev/urandom", 'r', 0, "device.urandom");
	add(use_device, "/dev/random", 'r', 0, "device.random");
	static const struct { const char *name, *path; } places[] = {{"work", NULL}, {"tmp", "/tmp/probe-node"}, {"shm", "/dev/shm/probe-node"}, {"dev", "/dev/probe-node"}, {"usr", "/usr/probe-node"}};
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		add(make_node, places[i].path, S_IFCHR, makedev(1, 1), "mknod.char.%s", places[i].name); /* /dev/mem */
		add(make_node, places[i].path, S_IFBLK, makedev(8, 0), "mknod.block.%s", places[i].name); /* /dev/sda */
		add(make_node, places[i].path, S_IFCHR, 0, "mknod.whiteout.%s", places[i].name);
	}
	add(rename_null, "/dev/was-null", 0, 0, "device.rename");
}
