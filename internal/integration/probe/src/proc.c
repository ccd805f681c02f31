/* What /proc tells about others and what can be changed by it. */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first bytes of a file; EMPTY is the answer of one that is covered by an empty one. */
static long first_bytes(const char *path)
{
	char buf[64];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	long n = ret(read(fd, buf, sizeof buf));
	close(fd);
	return n == 0 ? say("EMPTY") : n;
}

static long read_file(const struct row *r)
{
	return first_bytes(r->s);
}

static long list_dir(const struct row *r)
{
	DIR *d = opendir(sys(r->s));
	struct dirent *e;
	int n = 0;
	if (!d)
		return -errno;
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n ? 0 : say("EMPTY");
}

/* Only opens: nothing is written. */
static long open_to_write(const struct row *r)
{
	return ret(open(r->s, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

static const char *of_target(const char *name)
{
	static char path[128];
	snprintf(path, sizeof path, "/proc/%d/%s", target(), name);
	return path;
}

static long read_target(const struct row *r)
{
	return first_bytes(of_target(r->s));
}

static long open_target(const struct row *r)
{
	return ret(open(of_target(r->s), r->a | O_CLOEXEC));
}

static long link_of_target(const struct row *r)
{
	char buf[256];
	return ret(readlink(of_target(r->s), buf, sizeof buf));
}

static long list_target(const struct row *r)
{
	DIR *d = opendir(of_target(r->s));
	if (!d)
		return -errno;
	errno = 0;
	return readdir(d) ? 0 : -errno;
}

static long write_own(const struct row *r)
{
	char path[64];
	const char *text = strchr(r->s, '=') + 1;
	snprintf(path, sizeof path, "/proc/self/%.*s", (int)(text - r->s - 1), r->s);
	return write_text(path, text);
}

/* Addresses of the kernel are all zero for who may not know them. */
static long addresses(const struct row *r)
{
	static char text[1 << 14];
	long n = read_text(r->s, text, sizeof text);
	if (n <= 0)
		return n < 0 ? n : say("EMPTY");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *hex = r->a ? strstr(line, "0x") : line;
		if (hex && strtoull(hex, NULL, 16))
			return say("ADDRESSES");
	}
	return say("ZEROS");
}

/* The frame of a page of one's own: what attacks on the memory chips want to know. */
static long frame(const struct row *r)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	(void)r;
	if (fd < 0 || pread(fd, &entry, sizeof entry, (uintptr_t)&entry / 4096 * 8) < 0)
		return -errno;
	return say(entry & ((1ULL << 55) - 1) ? "FRAME" : "HIDDEN");
}

static long own_memory(const struct row *r)
{
	long copy = 0;
	int fd = open("/proc/self/mem", r->a | O_CLOEXEC);
	return fd < 0 ? -errno : pread(fd, &copy, sizeof copy, (off_t)(uintptr_t)r) < 0 ? -errno : 0;
}

static void add_system_wide(void)
{
	static const char *const written[] = {
		"sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/kernel/hotplug", "sys/kernel/sysrq", "sys/kernel/panic", "sys/kernel/hostname", "sys/kernel/domainname",
		"sys/kernel/ns_last_pid", "sys/kernel/randomize_va_space", "sys/kernel/perf_event_paranoid", "sys/kernel/unprivileged_bpf_disabled",
		"sys/kernel/shmmax", "sys/kernel/msgmax", "sys/kernel/threads-max", "sys/vm/overcommit_memory", "sys/vm/drop_caches",
		"sys/fs/suid_dumpable", "sys/fs/protected_hardlinks", "sys/fs/binfmt_misc/register", "sys/fs/mqueue/queues_max", "sys/net/ipv4/ip_forward",
		"sys/net/ipv4/ip_unprivileged_port_start", "sys/net/core/bpf_jit_enable", "sys/user/max_user_namespaces", "sys/dev/tty/legacy_tiocsti",
		"sysrq-trigger", "irq/default_smp_affinity", "mtrr", "scsi/scsi", "bus/pci/devices", "acpi/wakeup", "fs/nfsd/threads", "kcore", "kmsg",
	};
	static const char *const secret[] = {
		"kcore", "kmsg", "kallsyms", "keys", "key-users", "timer_list", "timer_stats", "sched_debug", "vmallocinfo", "slabinfo", "modules",
		"kpageflags", "kpagecount", "kpagecgroup", "latency_stats", "interrupts", "pagetypeinfo", "sysrq-trigger", "mtrr",
	};
	char *path;
	for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
		if (asprintf(&path, "/proc/%s", written[i]) > 0)
			add(open_to_write, path, 0, 0, "proc.write.%s", written[i]);
	for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
		if (asprintf(&path, "/proc/%s", secret[i]) > 0)
			add(read_file, path, 0, 0, "proc.read.%s", secret[i]);
	add(list_dir, "/proc/acpi", 0, 0, "proc.list.acpi");
	add(list_dir, "/proc/scsi", 0, 0, "proc.list.scsi");
	add(list_dir, "/proc/asound", 0, 0, "proc.list.asound");
	add(addresses, "/proc/kallsyms", 0, 0, "proc.addresses.kallsyms");
	add(addresses, "/proc/modules", 1, 0, "proc.addresses.modules");
	add(addresses, "/proc/iomem", 0, 0, "proc.addresses.iomem");
	add(addresses, "/proc/ioports", 0, 0, "proc.addresses.ioports");
}

static void add_of_target(void)
{
	static const char *const read[] = {"environ", "mem", "maps", "smaps", "auxv", "pagemap", "stack", "syscall", "io", "personality", "numa_maps"};
	static const char *const write[] = {
		"mem", "oom_score_adj", "oom_adj", "comm", "clear_refs", "coredump_filter", "autogroup", "sched",
		"uid_map", "gid_map", "projid_map", "setgroups", "loginuid", "timens_offsets",
	};
	static const char *const links[] = {"root", "cwd", "exe", "fd/0", "fd/1", "fd/3", "ns/mnt", "ns/user"};
	static const char *const dirs[] = {"fd", "fdinfo", "map_files", "root", "cwd"};
	for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
		add(read_target, read[i], 0, 0, "init.read.%s", read[i]);
	for (size_t i = 0; i < sizeof write / sizeof write[0]; i++)
		add(open_target, write[i], O_WRONLY, 0, "init.write.%s", write[i]);
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		add(link_of_target, links[i], 0, 0, "init.link.%s", links[i]);
	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
		add(list_target, dirs[i], 0, 0, "init.list.%s", dirs[i]);
	add(open_target, "root/etc/passwd", O_RDONLY, 0, "init.open.root-passwd");
	add(open_target, "exe", O_RDONLY, 0, "init.open.exe");
	add(open_target, "exe", O_WRONLY, 0, "init.open.exe.write");
	add(open_target, "exe", O_PATH, 0, "init.open.exe.path");
	add(open_target, "mem", O_RDWR, 0, "init.open.mem");
}

void add_proc(void)
{
	add_system_wide();
	add_of_target();
	add(frame, 0, 0, 0, "proc.self.pagemap");
	add(own_memory, 0, O_RDONLY, 0, "proc.self.mem.read");
	add(own_memory, 0, O_RDWR, 0, "proc.self.mem.write");
	static const char *const own[] = {
		"uid_map=0 0 1", "gid_map=0 0 1", "setgroups=allow", "projid_map=0 0 1", "oom_score_adj=-1", "oom_score_adj=-1000",
		"oom_score_adj=1000", "loginuid=0", "timens_offsets=monotonic 1 0", "attr/current=unconfined", "attr/exec=unconfined",
		"attr/fscreate=unconfined", "coredump_filter=0x7f", "make-it-fail=1",
	};
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		int plain = strcspn(own[i], "=");
		const char *value = own[i] + plain + 1;
		int numbered = !strncmp(own[i], "oom", 3);
		add(write_own, own[i], 0, 0, numbered ? "proc.self.%.*s.%s" : "proc.self.%.*s", plain, own[i], value);
	}
}
