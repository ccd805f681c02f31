/* What a socket can reach and change. */
#include "probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Connects, or sends a datagram, to s at port a; b is the type. Nobody answers outside: the call itself must fail. */
static long reach(const struct row *r)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(r->a)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(r->a)};
	int six = inet_pton(AF_INET, r->s, &v4.sin_addr) != 1;
	if (six && inet_pton(AF_INET6, r->s, &v6.sin6_addr) != 1)
		return -EINVAL;
	if (opt.host_net && strncmp(r->s, "127.", 4) && strcmp(r->s, "::1"))
		return say("not-tried");
	struct sockaddr *to = six ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
	socklen_t size = six ? sizeof v6 : sizeof v4;
	int fd = socket(to->sa_family, r->b | SOCK_CLOEXEC, 0);
	struct timeval second = {1, 0}; /* EINPROGRESS after that */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second) < 0)
		return -errno;
	return r->b == SOCK_DGRAM ? ret(sendto(fd, "x", 1, 0, to, size)) : ret(connect(fd, to, size));
}

/* A server and a client of one's own on the loopback. */
static long own_server(const struct row *r)
{
	struct sockaddr_in6 at = {.sin6_family = r->a, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in at4 = {.sin_family = r->a, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr *addr = r->a == AF_INET ? (struct sockaddr *)&at4 : (struct sockaddr *)&at;
	socklen_t size = r->a == AF_INET ? sizeof at4 : sizeof at;
	int server = socket(r->a, SOCK_STREAM | SOCK_CLOEXEC, 0), client = socket(r->a, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server, addr, size) < 0 || listen(server, 1) < 0 || getsockname(server, addr, &size) < 0)
		return -errno;
	return connect(client, addr, size) < 0 ? -errno : ret(accept(server, NULL, NULL));
}

static long bind_port(const struct row *r)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(r->a), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	return ret(bind(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), (struct sockaddr *)&at, sizeof at));
}

static long set_option(const struct row *r)
{
	char value[64] = {1};
	socklen_t size = r->s ? strlen(r->s) + 1 : 4;
	if (r->s)
		strcpy(value, r->s);
	int level = r->a;
	int fd = socket(level == SOL_IPV6 ? AF_INET6 : AF_INET, level == SOL_TCP ? SOCK_STREAM : SOCK_DGRAM, 0);
	return ret(setsockopt(fd, level, r->b, value, size));
}

static long if_ioctl(const struct row *r)
{
	struct ifreq req = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (r->b && ioctl(fd, r->b, &req) < 0)
		return -errno;
	if (r->s)
		strcpy(req.ifr_newname, r->s);
	return ret(ioctl(fd, r->a, &req));
}

/* Asks the kernel over NETLINK_ROUTE and returns what it says. a is the message, b its flags. */
static long route(const struct row *r)
{
	struct { struct nlmsghdr head; char body[64]; } msg = {.head = {.nlmsg_type = r->a, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | r->b}};
	struct { struct nlmsghdr head; struct nlmsgerr err; char rest[8192]; } answer;
	msg.head.nlmsg_len = sizeof msg.head + 32;
	if (r->s) { /* a name for a link, and its kind */
		struct rtattr *name = (struct rtattr *)(msg.body + sizeof(struct ifinfomsg));
		*name = (struct rtattr){RTA_LENGTH(8), IFLA_IFNAME};
		strcpy(RTA_DATA(name), "probe0");
		struct rtattr *info = (struct rtattr *)((char *)name + RTA_SPACE(8)), *kind = RTA_DATA(info);
		*kind = (struct rtattr){RTA_LENGTH(strlen(r->s) + 1), 1 /* IFLA_INFO_KIND */};
		strcpy(RTA_DATA(kind), r->s);
		*info = (struct rtattr){RTA_LENGTH(RTA_ALIGN(kind->rta_len)), IFLA_LINKINFO};
		msg.head.nlmsg_len = (char *)info + RTA_ALIGN(info->rta_len) - (char *)&msg;
	}
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || send(fd, &msg, msg.head.nlmsg_len, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0)
		return -errno;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.err.error : 0;
}

static long interfaces(const struct row *r)
{
	char names[512] = "";
	struct if_nameindex *list = if_nameindex();
	(void)r;
	if (!list)
		return -errno;
	for (struct if_nameindex *i = list; i->if_name; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? "," : "", i->if_name);
	return say("%s", names);
}

/* The host's sockets: the abstract ones go with the network name space, the others with the mounts. */
static long host_socket(const struct row *r)
{
	const char *name = r->a ? opt.abstract : opt.socket;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	if (!name)
		return not_given();
	snprintf(addr.sun_path + r->a, sizeof addr.sun_path - r->a, "%s", name);
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + r->a + strlen(name) + !r->a;
	return ret(connect(socket(AF_UNIX, r->b | SOCK_CLOEXEC, 0), (struct sockaddr *)&addr, size));
}

static long own_abstract(const struct row *r)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = "\0probe-own"};
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + 10;
	int server = socket(AF_UNIX, r->a, 0), client = socket(AF_UNIX, r->a, 0);
	if (bind(server, (struct sockaddr *)&addr, size) < 0 || listen(server, 1) < 0)
		return -errno;
	return ret(connect(client, (struct sockaddr *)&addr, size));
}

/* Says to be another process: a is its pid, b its uid. */
static long forge(const struct row *r)
{
	int fds[2];
	union { struct cmsghdr head; char space[CMSG_SPACE(sizeof(struct ucred))]; } ctl = {
		.head = {.cmsg_len = CMSG_LEN(sizeof(struct ucred)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS}};
	struct ucred who = {r->a ?: getpid(), r->b < 0 ? getuid() : (uid_t)r->b, getgid()};
	memcpy(CMSG_DATA(&ctl.head), &who, sizeof who);
	struct iovec iov = {"x", 1};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof ctl};
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0 ? -errno : ret(sendmsg(fds[0], &msg, 0));
}

void add_net(void)
{
	add(reach, "203.0.113.1", 80, SOCK_STREAM, "net.reach.tcp");
	add(reach, "203.0.113.1", 53, SOCK_DGRAM, "net.reach.udp");
	add(reach, "2001:db8::1", 80, SOCK_STREAM, "net.reach.tcp6");
	add(reach, "2001:db8::1", 53, SOCK_DGRAM, "net.reach.udp6");
	add(reach, "169.254.169.254", 80, SOCK_STREAM, "net.reach.metadata");
	add(reach, "10.0.0.1", 80, SOCK_STREAM, "net.reach.private");
	add(reach, "255.255.255.255", 9, SOCK_DGRAM, "net.reach.broadcast");
	add(reach, "224.0.0.1", 9, SOCK_DGRAM, "net.reach.multicast");
	add(reach, "::ffff:203.0.113.1", 80, SOCK_STREAM, "net.reach.mapped");
	add(reach, "127.0.0.1", 1, SOCK_STREAM, "net.loopback.closed");
	add(reach, "::1", 1, SOCK_STREAM, "net.loopback6.closed");
	add(own_server, 0, AF_INET, 0, "net.loopback.server");
	add(own_server, 0, AF_INET6, 0, "net.loopback6.server");
	add(bind_port, 0, 80, 0, "net.bind.80");
	add(bind_port, 0, 8080, 0, "net.bind.8080");
	add(set_option, 0, SOL_SOCKET, SO_MARK, "net.option.mark");
	add(set_option, 0, SOL_SOCKET, SO_RCVBUFFORCE, "net.option.rcvbufforce");
	add(set_option, 0, SOL_SOCKET, SO_DEBUG, "net.option.debug");
	add(set_option, 0, SOL_IP, IP_TRANSPARENT, "net.option.transparent");
	add(set_option, 0, SOL_IP, 64, "net.option.iptables"); /* IPT_SO_SET_REPLACE */
	add(set_option, 0, SOL_IPV6, IPV6_HOPOPTS, "net.option.hopopts");
	add(set_option, 0, SOL_TCP, TCP_REPAIR, "net.option.repair");
	add(set_option, "tls", SOL_TCP, TCP_ULP, "net.option.ulp");
	add(if_ioctl, 0, SIOCSIFFLAGS, SIOCGIFFLAGS, "net.ioctl.flags");
	add(if_ioctl, "probe0", SIOCSIFNAME, 0, "net.ioctl.rename");
	add(if_ioctl, 0, SIOCSIFMTU, SIOCGIFMTU, "net.ioctl.mtu");
	add(if_ioctl, 0, SIOCGIFFLAGS, 0, "net.ioctl.ask");
	add(route, 0, RTM_GETLINK, NLM_F_DUMP, "net.route.list");
	add(route, "dummy", RTM_NEWLINK, NLM_F_CREATE, "net.route.new-link");
	add(route, "veth", RTM_NEWLINK, NLM_F_CREATE, "net.route.new-veth");
	add(route, 0, RTM_NEWROUTE, NLM_F_CREATE, "net.route.new-route");
	add(interfaces, 0, 0, 0, "net.interfaces");
	add(host_socket, 0, 1, SOCK_STREAM, "host.socket.abstract");
	add(host_socket, 0, 1, SOCK_DGRAM, "host.socket.abstract.dgram");
	add(host_socket, 0, 0, SOCK_STREAM, "host.socket.path");
	add(own_abstract, 0, SOCK_STREAM, 0, "net.own-abstract");
	add(forge, 0, 0, -1, "net.credentials.own");
	add(forge, 0, 1, -1, "net.credentials.pid");
	add(forge, 0, 0, 0, "net.credentials.uid");
}
