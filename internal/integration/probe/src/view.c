/* What a script sees of itself and around it. */
#include "probe.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static long descriptors(const struct row *r)
{
	char names[512] = "", path[64], to[128];
	(void)r;
	for (int fd = 3; fd < 4096; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		long n = readlink(path, to, sizeof to - 1);
		if (n < 0)
			continue;
		to[n] = 0;
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%d:%s", names[0] ? "," : "", fd, to);
	}
	return say("%s", names[0] ? names : "none");
}

/* A line of /proc/self/status, without the white space before its value. */
static long status(const struct row *r)
{
	static char text[8192];
	char head[64];
	long n = read_text("/proc/self/status", text, sizeof text);
	if (n < 0)
		return n;
	snprintf(head, sizeof head, "\n%s:\t", r->s);
	char *at = strstr(text, head);
	if (!at)
		return say("absent");
	at += strlen(head);
	return say("%.*s", (int)strcspn(at, "\n"), at);
}

/* The processes whose environment has the secret text; as many as can be read. */
static long secrets(const struct row *r)
{
	static char text[1 << 18];
	char path[300];
	int found = 0;
	DIR *d = opendir("/proc");
	struct dirent *e;
	(void)r;
	if (!opt.secret)
		return not_given();
	while (d && (e = readdir(d))) {
		if (!isdigit(e->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%s/environ", e->d_name);
		long n = read_text(path, text, sizeof text);
		found += n > 0 && memmem(text, n, opt.secret, strlen(opt.secret)) != NULL;
	}
	return say("%d", found);
}

static long own_secret(const struct row *r)
{
	(void)r;
	if (!opt.secret)
		return not_given();
	for (char **e = environ; *e; e++)
		if (strstr(*e, opt.secret))
			return say("PRESENT");
	return say("absent");
}

/* A /proc of the sandbox's own has a handful of processes, and the number of this one in it is its own. */
static long processes(const struct row *r)
{
	int n = 0;
	char to[32];
	DIR *d = opendir("/proc");
	struct dirent *e;
	(void)r;
	while (d && (e = readdir(d)))
		n += isdigit(e->d_name[0]) != 0;
	long len = readlink("/proc/self", to, sizeof to - 1);
	if (len < 0)
		return -errno;
	to[len] = 0;
	if (atoi(to) != getpid())
		return say("FOREIGN");
	return n <= 10 ? say("few") : say("%d", n);
}

static long parent(const struct row *r)
{
	(void)r;
	return say(getppid() == 0 || getpid() == 1 ? "FIRST" : "inside");
}

/* Where the control groups of this process are, as it may see them. */
static long groups(const struct row *r)
{
	static char text[8192];
	long n = read_text("/proc/self/cgroup", text, sizeof text);
	(void)r;
	if (n < 0)
		return n;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strcmp(strrchr(line, ':'), ":/"))
			return say("%s", line);
	return say("root");
}

/* The mounts that lack an option, but for those of device nodes when b is set. s is the option, with a comma before. */
static long mounts_without(const struct row *r)
{
	static char text[1 << 16];
	char found[800] = "";
	long n = read_text("/proc/self/mounts", text, sizeof text);
	if (n < 0)
		return n;
	for (char *line = text, *end; *line; line = end + 1) {
		char where[256], options[1024];
		if (!(end = strchr(line, '\n')))
			break;
		*end = 0;
		if (sscanf(line, "%*s %255s %*s %1000s", where, options + 1) != 2)
			continue;
		options[0] = ',';
		strcat(options, ",");
		if (strstr(options, r->s) || (r->b && !strncmp(where, "/dev/", 5) && strcmp(where, "/dev/shm")))
			continue;
		snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", found[0] ? "," : "", where);
	}
	return say("%s", found[0] ? found : "none");
}

static long landlock(const struct row *r)
{
	(void)r;
	int n = landlock_layers();
	return n < 0 ? say("absent") : say("%d", n);
}

static long host_name(const struct row *r)
{
	char name[128];
	(void)r;
	return gethostname(name, sizeof name) < 0 ? -errno : say("%s", name);
}

static long ids(const struct row *r)
{
	(void)r;
	return say("%d:%d", getuid(), getgid());
}

/* Groups of the host that have no number inside all show as the same one: user_namespaces(7). */
static long other_groups(const struct row *r)
{
	gid_t all[256];
	int n = getgroups(256, all);
	(void)r;
	for (int i = 0; i < n; i++)
		if (all[i] != 65534)
			return say("%d", all[i]);
	return n < 0 ? -errno : say(n ? "unmapped" : "none");
}

static long subreaper(const struct row *r)
{
	int on = -1;
	(void)r;
	return prctl(PR_GET_CHILD_SUBREAPER, &on) < 0 ? -errno : say("%d", on);
}

void add_view(void)
{
	add(descriptors, 0, 0, 0, "view.descriptors");
	static const char *const lines[] = {"NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "TracerPid"};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		add(status, lines[i], 0, 0, "view.status.%s", lines[i]);
	static const char *const masks[] = {"SigBlk", "SigIgn", "SigCgt"};
	for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++)
		add(status, masks[i], 0, 0, "view.signals.%s", masks[i]);
	add(secrets, 0, 0, 0, "view.secret.processes");
	add(own_secret, 0, 0, 0, "view.secret.own");
	add(processes, 0, 0, 0, "view.processes");
	add(parent, 0, 0, 0, "view.parent");
	add(groups, 0, 0, 0, "view.cgroup");
	add(mounts_without, ",nosuid,", 0, 0, "view.mounts.suid");
	add(mounts_without, ",nodev,", 0, 1, "view.mounts.dev");
	add(landlock, 0, 0, 0, "view.landlock");
	add(host_name, 0, 0, 0, "view.hostname");
	add(ids, 0, 0, 0, "view.ids");
	add(other_groups, 0, 0, 0, "view.groups");
	add(subreaper, 0, 0, 0, "view.subreaper");
}
