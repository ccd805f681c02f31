/*
 * The refused calls by their i386 numbers, which 64-bit code reaches with int 0x80. A file of its own, as the
 * headers of both architectures name their numbers alike.
 */
#ifdef __x86_64__
#include <asm/unistd_32.h>

#include "calls.h"
#include "probe.h"

static const struct bare {
	const char *name;
	int nr, args[5];
} bare[] = {
#define CALL(name, ...) {#name, __NR_##name, {__VA_ARGS__}},
	CALLS
#undef CALL
	/* what only i386 has, and what is allowed by its own number */
	{"socketcall", __NR_socketcall, {0}},
	{"ipc", __NR_ipc, {-1}},
	{"stime", __NR_stime, {0}},
	{"umount", __NR_umount, {0}},
	{"vm86", __NR_vm86, {0}},
	{"clock_settime64", __NR_clock_settime64, {0}},
	{"clock_adjtime64", __NR_clock_adjtime64, {0}},
	{"unshare", __NR_unshare, {0}},
	{"socket", __NR_socket, {40, 1}},
	{"getpid", __NR_getpid, {0}},
	{"getuid32", __NR_getuid32, {0}},
	{"execve", __NR_execve, {0}},
	{"personality", __NR_personality, {-1}},
	{"ioctl", __NR_ioctl, {-1, 0x5412}},
	{"number-1000", 1000, {0}},
};

static long int80(long nr, const int *args)
{
	long result;
	__asm__ volatile("int $0x80"
		: "=a"(result)
		: "a"(nr), "b"((long)args[0]), "c"((long)args[1]), "d"((long)args[2]), "S"((long)args[3]), "D"((long)args[4])
		: "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static long try_bare(const struct row *r)
{
	long result = int80(bare[r->a].nr, bare[r->a].args);
	return result > -4096 ? result : 0;
}

void add_i386(void)
{
	for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
		if (bare[i].nr >= 0)
			add(try_bare, 0, i, 0, "call.i386.%s", bare[i].name);
}
#else
#include "probe.h"

void add_i386(void)
{
}
#endif
