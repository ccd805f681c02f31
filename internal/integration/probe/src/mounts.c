/* Mounts by the old and the new interface, other roots, and files by handle. */
#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mount.h and sys/mount.h of some C libraries do not go together, so the calls are raw. */
enum { MNT_FORCE = 1, MNT_DETACH = 2 };

static long mount_call(const char *from, const char *on, const char *type, long flags)
{
	return call(SYS_mount, (long)from, (long)on, (long)type, flags, 0, 0);
}

/* An empty directory to mount on. */
static const char *spot(void)
{
	const char *dir = work("spot");
	mkdir(dir, 0755);
	return dir;
}

static long new_mount(const struct row *r)
{
	return mount_call("none", spot(), r->s, r->a);
}

static long bind_mount(const struct row *r)
{
	return mount_call(r->s, spot(), NULL, MS_BIND | r->a);
}

/* s is a directory that is a mount, b says that its twin is no copy but the real one. */
static long remount(const struct row *r)
{
	return mount_call(NULL, r->b ? r->s : sys(r->s), NULL, r->a);
}

static long move(const struct row *r)
{
	return mount_call(r->b ? r->s : sys(r->s), spot(), NULL, MS_MOVE);
}

static long umount_it(const struct row *r)
{
	return call(SYS_umount2, (long)(r->b ? r->s : sys(r->s)), r->a, 0, 0, 0, 0);
}

static long pivot(const struct row *r)
{
	if (chdir(r->s[0] == '/' ? sys(r->s) : spot()) < 0)
		return -errno;
	return call(SYS_pivot_root, (long)".", (long)".", 0, 0, 0, 0);
}

static long change_root(const struct row *r)
{
	return call(SYS_chroot, (long)(r->s[0] == '/' ? r->s : spot()), 0, 0, 0, 0, 0);
}

static long tree(const struct row *r)
{
	return call(SYS_open_tree, AT_FDCWD, (long)r->s, r->a, 0, 0, 0);
}

static long tree_attr(const struct row *r)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
	return call(467, AT_FDCWD, (long)r->s, r->a, (long)&attr, sizeof attr, 0);
}

static long open_fs(const struct row *r)
{
	return call(SYS_fsopen, (long)r->s, r->a, 0, 0, 0, 0);
}

static long pick(const struct row *r)
{
	return call(SYS_fspick, AT_FDCWD, (long)sys(r->s), 0, 0, 0, 0);
}

static long set_attr(const struct row *r)
{
	struct mount_attr attr = {.attr_clr = r->a, .attr_set = r->b};
	return call(SYS_mount_setattr, AT_FDCWD, (long)sys(r->s), 0, (long)&attr, sizeof attr, 0);
}

static long move_by_fd(const struct row *r)
{
	long fd = ret(open(sys(r->s), O_PATH | O_CLOEXEC));
	return fd < 0 ? fd : call(SYS_move_mount, fd, (long)"", AT_FDCWD, (long)spot(), MOVE_MOUNT_F_EMPTY_PATH, 0);
}

static long handle_of(const char *path, struct file_handle *h)
{
	int mount_id;
	h->handle_bytes = MAX_HANDLE_SZ;
	return ret(name_to_handle_at(AT_FDCWD, path, h, &mount_id, 0));
}

static long name_to_handle(const struct row *r)
{
	struct file_handle *h = malloc(sizeof *h + MAX_HANDLE_SZ);
	return handle_of(r->s, h);
}

/* The well-known way out of early containers: the root of the file system under a bind has a number that is easy to guess. */
static long by_handle(const struct row *r)
{
	struct file_handle *h = malloc(sizeof *h + MAX_HANDLE_SZ);
	int dir = open(twin ? "/tmp" : r->s, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (handle_of(twin ? "/tmp" : r->s, h) < 0) {
		h->handle_bytes = 8;
		h->handle_type = 1;
		memcpy(h->f_handle, (uint32_t[]){2, 0}, 8);
	}
	return ret(open_by_handle_at(dir, h, O_RDONLY | O_DIRECTORY));
}

void add_mounts(void)
{
	static const char *const types[] = {"tmpfs", "proc", "sysfs", "cgroup2", "devpts", "mqueue", "overlay", "ramfs", "fuse", "binfmt_misc", "ext4", "nosuchfs"};
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		add(new_mount, types[i], 0, 0, "mount.new.%s", types[i]);
		add(open_fs, types[i], 0, 0, "mount.fsopen.%s", types[i]);
	}
	add(new_mount, "tmpfs", 1L << 32, 0, "high.mount");
	add(bind_mount, "/", 0, 0, "mount.bind.root");
	add(bind_mount, "/", MS_REC, 0, "mount.bind.root-recursive");
	add(bind_mount, "/proc", MS_REC, 0, "mount.bind.proc");
	add(remount, "/usr", MS_REMOUNT | MS_BIND, 0, "mount.remount.usr");
	add(remount, "/", MS_REMOUNT | MS_BIND, 0, "mount.remount.root");
	add(remount, "/proc", MS_REMOUNT | MS_BIND, 1, "mount.remount.proc");
	add(remount, "/", MS_REC | MS_SHARED, 1, "mount.shared");
	add(remount, "/", MS_REC | MS_SLAVE, 1, "mount.slave");
	add(remount, "/", MS_REC | MS_UNBINDABLE, 1, "mount.unbindable");
	add(move, "/usr", 0, 0, "mount.move.usr");
	add(umount_it, "/usr", MNT_DETACH, 0, "umount.usr");
	add(umount_it, "/proc", MNT_DETACH, 1, "umount.proc");
	add(umount_it, "/proc/sys", MNT_DETACH, 1, "umount.proc-sys");
	add(umount_it, "/proc/kcore", MNT_DETACH, 1, "umount.proc-kcore");
	add(umount_it, "/tmp", MNT_DETACH, 1, "umount.tmp");
	add(umount_it, "/dev/null", MNT_DETACH, 1, "umount.dev-null");
	add(umount_it, "/", MNT_DETACH, 1, "umount.root");
	add(umount_it, "/", MNT_FORCE, 1, "umount.force");
	add(pivot, "/usr", 0, 0, "pivot_root.usr");
	add(pivot, "spot", 0, 0, "pivot_root.work");
	add(change_root, "spot", 0, 0, "chroot.work");
	add(change_root, "/", 0, 0, "chroot.root");
	add(tree, "/", 0, 0, "mount.open_tree.plain");
	add(tree, "/", OPEN_TREE_CLONE, 0, "mount.open_tree.clone");
	add(tree, "/", OPEN_TREE_CLONE | AT_RECURSIVE, 0, "mount.open_tree.recursive");
	add(tree_attr, "/tmp", OPEN_TREE_CLONE, 0, "mount.open_tree_attr");
	add(pick, "/usr", 0, 0, "mount.fspick");
	add(set_attr, "/usr", MOUNT_ATTR_RDONLY, 0, "mount.setattr.rw");
	add(set_attr, "/usr", MOUNT_ATTR_NOSUID, 0, "mount.setattr.suid");
	add(set_attr, "/usr", 0, MOUNT_ATTR_RDONLY, "mount.setattr.ro");
	add(move_by_fd, "/usr", 0, 0, "mount.move_mount");
	add(name_to_handle, "/tmp", 0, 0, "handle.name.tmp");
	add(name_to_handle, "/", 0, 0, "handle.name.root");
	add(by_handle, "/usr", 0, 0, "handle.open.usr");
	add(by_handle, "/tmp", 0, 0, "handle.open.tmp");
	add(by_handle, ".", 0, 0, "handle.open.work");
}
