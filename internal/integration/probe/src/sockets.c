/* Which sockets can be made: every family by every type, and the protocols of the allowed families. */
#include "probe.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long make_socket(const struct row *r)
{
	return call(SYS_socket, r->a, r->b, 0, 0, 0, 0);
}

static long make_pair(const struct row *r)
{
	int fds[2];
	return call(SYS_socketpair, r->a, r->b, 0, (long)fds, 0, 0);
}

/* b is the type and, above that, the protocol. */
static long with_protocol(const struct row *r)
{
	return call(SYS_socket, r->a, r->b & 0xffff, r->b >> 16, 0, 0, 0);
}

static long pair_with_protocol(const struct row *r)
{
	int fds[2];
	return call(SYS_socketpair, r->a, r->b & 0xffff, r->b >> 16, (long)fds, 0, 0);
}

void add_sockets(void)
{
	static const struct { const char *name; int type; } types[] = {
		{"stream", SOCK_STREAM}, {"dgram", SOCK_DGRAM}, {"raw", SOCK_RAW}, {"rdm", SOCK_RDM}, {"seqpacket", SOCK_SEQPACKET},
		{"dccp", SOCK_DCCP}, {"packet", SOCK_PACKET},
	};
	static const struct { const char *name; int number; } inet[] = {
		{"icmp", 1}, {"igmp", 2}, {"tcp", 6}, {"udp", 17}, {"dccp", 33}, {"gre", 47}, {"esp", 50}, {"icmpv6", 58}, {"l2tp", 115},
		{"sctp", 132}, {"udplite", 136}, {"raw", 255}, {"smc", 256}, {"mptcp", 262},
	};
	static const struct { const char *name; int family; } families[] = {{"inet", AF_INET}, {"inet6", AF_INET6}};

	for (int family = 0; family <= 46; family++) {
		for (int i = 0; i < 7; i++)
			add(make_socket, 0, family, types[i].type, "socket.%d.%s", family, types[i].name);
		add(make_pair, 0, family, SOCK_STREAM, "socketpair.%d.stream", family);
	}
	add(make_pair, 0, AF_UNIX, SOCK_DGRAM, "socketpair.1.dgram");
	add(make_socket, 0, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, "socket.flags.stream");
	add(make_socket, 0, AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, "socket.flags.raw");
	add(make_socket, 0, AF_INET, 7, "socket.type.7");
	add(make_socket, 0, AF_INET, 15, "socket.type.15");
	add(make_socket, 0, -1, SOCK_STREAM, "socket.family.-1");
	add(make_socket, 0, 1000, SOCK_STREAM, "socket.family.1000");
	for (int f = 0; f < 2; f++)
		for (size_t i = 0; i < sizeof inet / sizeof inet[0]; i++) {
			add(with_protocol, 0, families[f].family, (long)inet[i].number << 16 | SOCK_STREAM, "socket.%s.stream.%s", families[f].name, inet[i].name);
			add(with_protocol, 0, families[f].family, (long)inet[i].number << 16 | SOCK_DGRAM, "socket.%s.dgram.%s", families[f].name, inet[i].name);
			add(with_protocol, 0, families[f].family, (long)inet[i].number << 16 | SOCK_RAW, "socket.%s.raw.%s", families[f].name, inet[i].name);
		}
	for (int protocol = 0; protocol <= 22; protocol++)
		add(with_protocol, 0, AF_NETLINK, (long)protocol << 16 | SOCK_RAW, "socket.netlink.%d", protocol);
	add(with_protocol, 0, AF_NETLINK, SOCK_DGRAM, "socket.netlink.dgram");
	add(pair_with_protocol, 0, AF_INET, 262L << 16 | SOCK_STREAM, "socketpair.mptcp");
	add(pair_with_protocol, 0, AF_NETLINK, 15L << 16 | SOCK_RAW, "socketpair.uevent");
}
