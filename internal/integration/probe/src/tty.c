/* Commands to a terminal of one's own that would act on the shell of whoever sits before it. */
#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

enum { ARGUMENT_NONE, ARGUMENT_CHAR, ARGUMENT_INT };

/* A terminal that controls this process. */
static long own_terminal(void)
{
	int ptmx = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ptmx < 0 || grantpt(ptmx) < 0 || unlockpt(ptmx) < 0)
		return -errno;
	int tty = open(ptsname(ptmx), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tty < 0 || setsid() < 0 || ioctl(tty, TIOCSCTTY, 0) < 0)
		return -errno;
	return tty;
}

static long command(long request, long kind)
{
	char c = 'x';
	int number[4] = {0};
	long tty = own_terminal();
	if (tty < 0)
		return say("terminal:%s", errno_name(-tty));
	return call(SYS_ioctl, tty, request, kind == ARGUMENT_CHAR ? (long)&c : kind == ARGUMENT_INT ? (long)number : 0, 0, 0, 0);
}

static long try_command(const struct row *r)
{
	return command(r->a, r->b);
}

static long try_high(const struct row *r)
{
	return command(1L << 32 | r->a, r->b);
}

static long works(const struct row *r)
{
	struct termios t;
	struct winsize size = {24, 80, 0, 0};
	long tty = own_terminal();
	(void)r;
	if (tty < 0)
		return tty;
	if (tcgetattr(tty, &t) < 0 || tcsetattr(tty, TCSANOW, &t) < 0 || ioctl(tty, TIOCSWINSZ, &size) < 0 || ioctl(tty, TIOCSPGRP, &(pid_t){getpid()}) < 0)
		return -errno;
	return open("/dev/tty", O_RDWR | O_CLOEXEC) < 0 ? -errno : 0;
}

/* The standard descriptors are no terminal of the caller. */
static long is_terminal(const struct row *r)
{
	return isatty(r->a) ? say("TERMINAL") : say("none");
}

void add_tty(void)
{
	static const struct { const char *name; long request, kind; } commands[] = {
		{"TIOCSTI", TIOCSTI, ARGUMENT_CHAR}, {"TIOCLINUX", TIOCLINUX, ARGUMENT_CHAR}, {"TIOCSETD", TIOCSETD, ARGUMENT_INT},
		{"TIOCCONS", TIOCCONS, ARGUMENT_NONE}, {"KDSKBENT", 0x4b47, ARGUMENT_NONE}, {"KDSKBSENT", 0x4b49, ARGUMENT_NONE},
	};
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		add(try_command, 0, commands[i].request, commands[i].kind, "tty.%s", commands[i].name);
		add(try_high, 0, commands[i].request, commands[i].kind, "high.tty.%s", commands[i].name);
	}
	add(try_high, 0, TIOCGWINSZ, ARGUMENT_INT, "high.tty.TIOCGWINSZ");
	add(works, 0, 0, 0, "tty.works");
	for (int fd = 0; fd < 3; fd++)
		add(is_terminal, 0, fd, 0, "tty.fd%d", fd);
}
