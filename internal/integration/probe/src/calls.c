/* The refused calls by their own numbers and by those of x32, and numbers that are no calls. */
#include "probe.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "calls.h"

static const struct bare {
	const char *name;
	long nr, args[5];
} bare[] = {
#define CALL(name, ...) {#name, __NR_##name, {__VA_ARGS__}},
	CALLS
#undef CALL
};

enum { HIGH = 32, X32 = 0x40000000 };

/* The call number b, above that with the bits of a set in it, with the harmless arguments of its row. */
static long try_bare(const struct row *r)
{
	const struct bare *c = &bare[r->b];
	return call(c->nr | r->a, c->args[0], c->args[1], c->args[2], c->args[3], c->args[4], 0);
}

/* A number that is not in the list, with no arguments. */
static long try_number(const struct row *r)
{
	return call(r->a, 0, 0, 0, 0, 0, 0);
}

/* The kernel takes the low half of these arguments only: a filter that compares all 64 bits is passed by. */
static long high_family(const struct row *r)
{
	return call(SYS_socket, 1L << HIGH | r->a, SOCK_STREAM, 0, 0, 0, 0);
}

static long high_netlink(const struct row *r)
{
	(void)r;
	return call(SYS_socket, AF_NETLINK, SOCK_RAW, 1L << HIGH | 15, 0, 0, 0); /* NETLINK_KOBJECT_UEVENT */
}

static long high_type(const struct row *r)
{
	return call(SYS_socket, AF_INET, 1L << HIGH | SOCK_RAW, r->a, 0, 0, 0);
}

static long high_persona(const struct row *r)
{
	return call(SYS_personality, 1L << HIGH | r->a, 0, 0, 0, 0, 0);
}

static long high_unshare(const struct row *r)
{
	return call(SYS_unshare, 1L << HIGH | r->a, 0, 0, 0, 0, 0);
}

static long high_set_mm(const struct row *r)
{
	(void)r;
	return call(SYS_prctl, 1L << HIGH | PR_SET_MM, PR_SET_MM_MAP_SIZE, 0, 0, 0, 0);
}

/* A filter of one's own comes on top: it can only refuse more. */
static long own_filter(const struct row *r)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, r->a),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {4, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	long err = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&prog, 0, 0, 0);
	return err < 0 ? err : call(SYS_unshare, CLONE_NEWUSER, 0, 0, 0, 0, 0);
}

static long own_listener(const struct row *r)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog prog = {1, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, r->a | SECCOMP_FILTER_FLAG_NEW_LISTENER, (long)&prog, 0, 0, 0);
}

#ifdef __x86_64__
static void add_x32(void)
{
	static const struct { const char *name; int nr; } more[] = {
		/* calls that are allowed by their own number */
		{"getpid", SYS_getpid}, {"unshare", SYS_unshare}, {"socket", SYS_socket}, {"clone", SYS_clone}, {"write", SYS_write},
		/* numbers that only x32 has */
		{"own.rt_sigaction", 512}, {"own.ioctl", 514}, {"own.execve", 520}, {"own.ptrace", 521}, {"own.kexec_load", 528},
		{"own.process_vm_readv", 539}, {"own.process_vm_writev", 540}, {"own.setsockopt", 541}, {"own.io_setup", 543},
	};
	for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
		add(try_bare, 0, X32, i, "call.x32.%s", bare[i].name);
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		add(try_number, 0, X32 + more[i].nr, 0, "call.x32.%s", more[i].name);
	for (int nr = 512; nr < 548; nr += 5) /* their numbers without the bit are holes */
		add(try_number, 0, nr, 0, "number.%d", nr);
}
#endif

void add_calls(void)
{
	for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
		if (bare[i].nr >= 0)
			add(try_bare, 0, 0, i, "call.native.%s", bare[i].name);
	for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i += 9) /* the kernel drops the high half of the number too */
		if (bare[i].nr >= 0)
			add(try_bare, 0, 1L << HIGH, i, "call.high.%s", bare[i].name);
#ifdef __x86_64__
	add_x32();
#endif
	static const long numbers[] = {468, 469, 470, 500, 600, 1000, 4096, 0x3fffffff, 0x7fffffff, 0x80000000, 0xc0000000, 0xfffffffe, 0xffffffff};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		add(try_number, 0, numbers[i], 0, "number.%ld", numbers[i]);
	add(high_family, 0, 40, 0, "high.socket.vsock");
	add(high_family, 0, 17, 0, "high.socket.packet");
	add(high_netlink, 0, 0, 0, "high.socket.netlink");
	add(high_type, 0, 1, 0, "high.socket.raw");
	add(high_persona, 0, 0x0400000, 0, "high.personality");
	add(high_unshare, 0, CLONE_NEWUSER, 0, "high.unshare");
	add(high_set_mm, 0, 0, 0, "high.prctl");
	add(own_filter, 0, SECCOMP_RET_ALLOW, 0, "filter.allow");
	add(own_filter, 0, SECCOMP_RET_TRACE, 0, "filter.trace");
	add(own_filter, 0, SECCOMP_RET_LOG, 0, "filter.log");
	add(own_listener, 0, 0, 0, "filter.listener");
	add(own_listener, 0, 1L << HIGH, 0, "high.seccomp");
}
