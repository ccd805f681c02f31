/* Ways to more rights: identities, capabilities, set-user-ID programs. */
#include "probe.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static long id_call(const struct row *r)
{
	return call(r->a, r->b, r->b, r->b, 0, 0, 0);
}

/* setfsuid and setfsgid have no error: ask again what came of it. */
static long fs_id(const struct row *r)
{
	call(r->a, r->b, 0, 0, 0, 0, 0);
	return call(r->a, -1, 0, 0, 0, 0, 0) == r->b ? 0 : -EPERM;
}

static long groups(const struct row *r)
{
	gid_t gid = 0;
	return call(SYS_setgroups, r->a, (long)&gid, 0, 0, 0, 0);
}

static long cap_set(uint32_t effective, uint32_t inheritable)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{effective, effective, inheritable}, {0}};
	return call(SYS_capset, (long)&head, (long)data, 0, 0, 0, 0);
}

static long raise_caps(const struct row *r)
{
	return cap_set(r->a, r->b);
}

static long prctl_call(const struct row *r)
{
	return call(SYS_prctl, r->a, r->b, 0, 0, 0, 0);
}

static long raise_ambient(const struct row *r)
{
	cap_set(1u << r->a, 1u << r->a);
	return call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, r->a, 0, 0, 0);
}

static long set_mm(const struct row *r)
{
	return call(SYS_prctl, PR_SET_MM, r->a, 0, 0, 0, 0);
}

/* The set of capabilities that could still come back through a program. */
static long bounding(const struct row *r)
{
	int n = 0;
	(void)r;
	for (int cap = 0; cap <= 63; cap++)
		n += prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
	return say("%d", n);
}

int show_ids(void)
{
	static char text[8192];
	if (read_text("/proc/self/status", text, sizeof text) < 0)
		return 1;
	char *caps = strstr(text, "\nCapEff:\t"), *nnp = strstr(text, "\nNoNewPrivs:\t");
	uid_t r, e, s;
	gid_t rg, eg, sg;
	getresuid(&r, &e, &s);
	getresgid(&rg, &eg, &sg);
	int same = r == e && e == s && rg == eg && eg == sg;
	printf("uid=%d same=%d caps=%.16s nnp=%.1s\n", e, same, caps ? caps + 9 : "?", nnp ? nnp + 13 : "?");
	return 0;
}

/* Runs path with the argument show-ids and says what it prints. */
static long run_copy(const char *path)
{
	char text[256] = "";
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		execl(path, path, "show-ids", NULL);
		dprintf(1, "exec:%s\n", errno_name(errno));
		_exit(1);
	}
	close(fds[1]);
	long n = read(fds[0], text, sizeof text - 1);
	waitpid(pid, NULL, 0);
	text[n > 0 ? n - 1 : 0] = 0;
	return say("%s", text);
}

/* A copy of this program with set-ID bits, which is root's as far as that can be. */
static long set_id_copy(const struct row *r)
{
	const char *path = work("copy");
	long err = copy_self(path, 0755);
	if (err >= 0 && r->b && chown(path, 0, 0) < 0 && twin)
		return -errno;
	if (err >= 0)
		err = ret(chmod(path, r->a));
	return err < 0 ? err : run_copy(path);
}

enum { CHMOD, FCHMOD, FCHMODAT, FCHMODAT2, CREAT, OPEN, OPENAT, TMPFILE, MKNOD, MKNODAT, MAKE_DIR };

/* Every way to give a file the mode b. */
static long set_mode(const struct row *r)
{
	const char *old = work("old");
	long new = (long)work("new"), dir = (long)work("."), err = make_file(old, "x", 0644);
	if (err < 0)
		return err;
	switch (r->a) {
#ifdef SYS_chmod /* amd64 */
	case CHMOD:
		return call(SYS_chmod, (long)old, r->b, 0, 0, 0, 0);
	case CREAT:
		return call(SYS_creat, new, r->b, 0, 0, 0, 0);
	case OPEN:
		return call(SYS_open, new, O_WRONLY | O_CREAT | O_EXCL, r->b, 0, 0, 0);
	case MKNOD:
		return call(SYS_mknod, new, S_IFREG | r->b, 0, 0, 0, 0);
#endif
	case FCHMOD:
		return call(SYS_fchmod, open(old, O_RDONLY | O_CLOEXEC), r->b, 0, 0, 0, 0);
	case FCHMODAT:
		return call(SYS_fchmodat, AT_FDCWD, (long)old, r->b, 0, 0, 0);
	case FCHMODAT2:
		return call(452, AT_FDCWD, (long)old, r->b, 0, 0, 0);
	case OPENAT:
		return call(SYS_openat, AT_FDCWD, new, O_WRONLY | O_CREAT | O_EXCL, r->b, 0, 0);
	case TMPFILE:
		return call(SYS_openat, AT_FDCWD, dir, O_WRONLY | O_TMPFILE, r->b, 0, 0);
	case MKNODAT:
		return call(SYS_mknodat, AT_FDCWD, new, S_IFREG | r->b, 0, 0, 0);
	default:
		return call(SYS_mkdirat, AT_FDCWD, new, r->b, 0, 0, 0);
	}
}

/* The kernel itself keeps the bits off new directories. */
static long dir_mode(const struct row *r)
{
	struct stat st;
	long err = set_mode(r);
	return err < 0 || stat(work("new"), &st) < 0 ? err : say("%04o", st.st_mode & 07000);
}

static long file_caps(const struct row *r)
{
	struct vfs_cap_data caps = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, .data = {{.permitted = 1 << r->a}}};
	long err = make_file(work("file"), "x", 0755);
	return err < 0 ? err : ret(setxattr(work("file"), "security.capability", &caps, XATTR_CAPS_SZ_2, 0));
}

static long give_away(const struct row *r)
{
	long err = make_file(work("file"), "x", 0644);
	return err < 0 ? err : ret(chown(work("file"), r->a, r->b));
}

/* Set-ID programs of the system do nothing when their mount says nosuid. */
static long flag_of_usr(const struct row *r)
{
	static char text[1 << 16];
	long n = read_text("/proc/self/mountinfo", text, sizeof text);
	(void)r;
	for (char *line = strtok(text, "\n"); n > 0 && line; line = strtok(NULL, "\n"))
		if (strstr(line, " /usr ") && !strstr(line, "nosuid"))
			return say("suid");
	return say("nosuid");
}

void add_creds(void)
{
	static const struct { const char *name; long nr; } ids[] = {
		{"setuid", SYS_setuid}, {"setgid", SYS_setgid}, {"setreuid", SYS_setreuid}, {"setregid", SYS_setregid},
		{"setresuid", SYS_setresuid}, {"setresgid", SYS_setresgid},
	};
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		add(id_call, 0, ids[i].nr, 0, "creds.%s.root", ids[i].name);
		add(id_call, 0, ids[i].nr, 65534, "creds.%s.nobody", ids[i].name);
	}
	add(fs_id, 0, SYS_setfsuid, 0, "creds.setfsuid.root");
	add(fs_id, 0, SYS_setfsgid, 0, "creds.setfsgid.root");
	add(groups, 0, 0, 0, "creds.setgroups.none");
	add(groups, 0, 1, 0, "creds.setgroups.root");
	add(raise_caps, 0, 1 << CAP_SYS_ADMIN, 0, "caps.raise.sys_admin");
	add(raise_caps, 0, 1 << CAP_DAC_OVERRIDE, 0, "caps.raise.dac_override");
	add(raise_caps, 0, 0, 1 << CAP_SYS_ADMIN, "caps.inheritable.sys_admin");
	add(raise_caps, 0, 0, 0, "caps.drop");
	add(raise_ambient, 0, CAP_NET_RAW, 0, "caps.ambient.net_raw");
	add(raise_ambient, 0, CAP_SYS_ADMIN, 0, "caps.ambient.sys_admin");
	add(prctl_call, 0, PR_CAPBSET_DROP, CAP_SYS_ADMIN, "caps.bounding.drop");
	add(bounding, 0, 0, 0, "caps.bounding.count");
	add(prctl_call, 0, PR_SET_SECUREBITS, SECBIT_NOROOT, "caps.securebits");
	add(prctl_call, 0, PR_SET_NO_NEW_PRIVS, 0, "creds.no_new_privs.off");
	add(prctl_call, 0, PR_SET_SECCOMP, 0, "creds.seccomp.off");
	add(prctl_call, 0, PR_SET_SECCOMP, 1, "creds.seccomp.strict");
	add(prctl_call, 0, PR_SET_IO_FLUSHER, 1, "creds.io_flusher");
	add(set_mm, 0, PR_SET_MM_START_BRK, 0, "prctl.set_mm.brk");
	add(set_mm, 0, PR_SET_MM_EXE_FILE, 0, "prctl.set_mm.exe");
	add(set_id_copy, 0, 04755, 0, "setid.user");
	add(set_id_copy, 0, 02755, 0, "setid.group");
	add(set_id_copy, 0, 06755, 1, "setid.given-to-root");
	add(set_id_copy, 0, 0755, 0, "setid.plain");
	static const struct { const char *name; int how; } ways[] = {
#ifdef SYS_chmod
		{"chmod", CHMOD}, {"creat", CREAT}, {"open", OPEN}, {"mknod", MKNOD},
#endif
		{"fchmod", FCHMOD}, {"fchmodat", FCHMODAT}, {"fchmodat2", FCHMODAT2}, {"openat", OPENAT}, {"tmpfile", TMPFILE}, {"mknodat", MKNODAT},
	};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		add(set_mode, 0, ways[i].how, 04755, "setid.mode.%s.user", ways[i].name);
		add(set_mode, 0, ways[i].how, 02755, "setid.mode.%s.group", ways[i].name);
		add(set_mode, 0, ways[i].how, 1L << 32 | 04755, "high.setid.%s", ways[i].name);
		add(set_mode, 0, ways[i].how, 01755, "setid.mode.%s.sticky", ways[i].name);
	}
	add(dir_mode, 0, MAKE_DIR, 06755, "setid.mode.mkdir");
	add(file_caps, 0, CAP_SYS_ADMIN, 0, "setid.file-caps");
	add(give_away, 0, 0, -1, "chown.own.root");
	add(give_away, 0, -1, 0, "chown.own.root-group");
	add(give_away, 0, 65534, 65534, "chown.own.nobody");
	add(give_away, 0, -1, -1, "chown.own.nobody-new");
	add(flag_of_usr, 0, 0, 0, "setid.usr");
}
