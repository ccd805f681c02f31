/* What the files of the probe share. See probe.c for how a row is run. */
#ifndef PROBE_H
#define PROBE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One thing to try. The meaning of s, a and b is up to run. */
struct row {
	const char *id;
	long (*run)(const struct row *);
	const char *s;
	long a, b;
};

/* An answer of a row: what it returns. A negative value is -errno, any other is printed as OK; say() replaces it. */
typedef long row_fn(const struct row *);

/* What the caller named; NULL or 0 when it did not. */
struct options {
	pid_t host_pids[16]; /* processes outside; a list that 0 ends */
	const char *abstract;  /* a listening abstract socket of the host, without its first NUL */
	const char *socket;    /* a listening socket of the host, as a path */
	const char *canary;    /* a file of the host that must not be visible */
	const char *secret;    /* a text that must be in no environment and no command line inside */
	const char *only;      /* run the rows whose id starts with this */
	int host_net;          /* the run has the host's network: do not try what would send packets out */
};

extern struct options opt;
extern int twin;      /* 1: outside a sandbox, in name spaces made for this; the same calls must work here */
extern char **self_argv;

/* The process to attack: PID 1 inside, a child of our own as a twin. */
pid_t target(void);
/* The path of a file or directory of the system: itself inside, a copy on a tmpfs as a twin. */
const char *sys(const char *path);
/* A path in a directory that the probe may write to and that goes with it. */
const char *work(const char *name);

void add(row_fn *run, const char *s, long a, long b, const char *id, ...) __attribute__((format(printf, 5, 6)));
long say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A row that needs an option which was not given says so; the value can never be an expected one. */
long not_given(void);

const char *errno_name(int err);
long ret(long r);                           /* r, or -errno when r is -1 */
long call(long nr, long a, long b, long c, long d, long e, long f); /* a raw system call: its result or -errno */
long child(long (*fn)(void *), void *arg);  /* run fn in a child of its own and return what it returned */
long make_file(const char *path, const char *text, int mode); /* 0 or -errno; the file is new */
long read_text(const char *path, char *buf, size_t size);     /* bytes read, or -errno; buf ends with NUL */
long write_text(const char *path, const char *text);          /* to a file that exists; bytes or -errno */
long copy_self(const char *path, int mode); /* copy the probe's program into a new file */
long copy_self_to(int fd);
void nap(long ms);

void add_calls(void);
void add_i386(void);
void add_namespaces(void);
void add_mounts(void);
void add_creds(void);
void add_process(void);
void add_signals(void);
void add_proc(void);
void add_files(void);
void add_links(void);
void add_devices(void);
void add_sockets(void);
void add_net(void);
void add_tty(void);
void add_limits(void);
void add_odd(void);
void add_view(void);

int posture(void);
int landlock_layers(void); /* rulesets that bind this process; -1 when there is no Landlock */
int twin_setup(void);      /* 0, or 3 after saying on stderr why this is no place for twins */
int twin_row(const char *id); /* gives a row mounts, names and a network of its own; 0 or -errno */
int show_ids(void);        /* print who this process is, for the row that runs a set-user-ID copy */
int write_self(void);       /* print what opening the own program to write gives, for a copy of it */

#endif
