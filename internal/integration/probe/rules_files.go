package probe

func fileRules() []Rule {
	const (
		owner   = "which check comes first: EACCES where the file is root's, EROFS where it is the script's (the host user owns it)"
		between = "two mounts: nothing is linked or moved from one to another"
		useless = "what is open to read cannot be changed, wherever it is"
	)
	return class(
		"files of the system",
		Rule{IDs: "file.ftruncate.*", What: "shortening a file that is open to read", Want: "EINVAL", Why: useless, NoTwin: sameEverywhere},
		Rule{IDs: "file.fallocate.* file.copy-range.*", What: "writing to a file that is open to read", Want: "EBADF", Why: useless, NoTwin: sameEverywhere},
		Rule{IDs: "file.mmap.* file.mprotect.*", What: "writing to the mapping of a file that is open to read", Want: "EACCES", Why: useless, NoTwin: sameEverywhere},
		Rule{IDs: "file.mknod-over.*", What: "a new file in place of one", Want: "EEXIST", NoTwin: sameEverywhere},
		Rule{IDs: "file.replace.usr file.take.usr file.exchange.usr file.link*.usr", What: "moving and linking between the work directory and /usr", Want: "EXDEV", Why: between, NoTwin: sameEverywhere},
		Rule{IDs: "file.replace.etc file.take.etc file.exchange.etc file.link*.etc", What: "moving and linking between the work directory and /etc", Want: "EXDEV", Why: between, Twin: "OK"},
		Rule{IDs: "file.write.* file.rdwr.* file.append.* file.truncate.* file.reopen.* file.symlink.*", What: "writing, by path, by descriptor and by link", Want: "EACCES|EROFS", Why: owner, Twin: "OK"},
		Rule{IDs: "file.trusted.*", What: "attributes for root", Want: "EROFS", NoTwin: hostCapability},
		Rule{IDs: "file.flags.*", What: "flags of the file system", Want: "EROFS|ENOTTY|EOPNOTSUPP", Why: "not every file system has flags", NoTwin: perHost},
		Rule{IDs: "file.setxattr.*", What: "attributes", Want: "EROFS", Twin: "OK|EOPNOTSUPP", Why: "EOPNOTSUPP: tmpfs before Linux 6.6"},
		Rule{IDs: "file.*", What: "changing, removing and renaming", Want: "EROFS", Twin: "OK"},

		Rule{IDs: "dir.create.dev-pts", What: "a file among the terminals", Want: "EACCES", NoTwin: sameEverywhere},
		Rule{IDs: "dir.create.proc*", What: "a file in /proc", Want: "ENOENT|EACCES", Why: "EACCES: Landlock answers first on some kernels", NoTwin: sameEverywhere},
		Rule{IDs: "dir.rename.usr* dir.rename-dir.usr-bin", What: "moving between the work directory and /usr", Want: "EXDEV", Why: between, NoTwin: sameEverywhere},
		Rule{IDs: "dir.rename-dir.usr", What: "moving /usr away", Want: "EXDEV", Why: between, Twin: "EBUSY"},
		Rule{IDs: "dir.rename*", What: "moving into and out of directories", Want: "EXDEV", Why: between, Twin: "OK"},
		Rule{IDs: "dir.link.usr*", What: "a link to an own file", Want: "EROFS", NoTwin: "two mounts for a twin as well"},
		Rule{IDs: "dir.setxattr.*", What: "attributes", Want: "EROFS", Twin: "OK|EOPNOTSUPP", Why: "EOPNOTSUPP: tmpfs before Linux 6.6"},
		Rule{IDs: "dir.*", What: "new entries of every kind, and changes to directories", Want: "EROFS", Twin: "OK"},

		Rule{IDs: "own.file.trusted", What: "attributes for root, on an own file", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "own.file.ftruncate", What: "shortening a file that is open to read", Want: "EINVAL", NoTwin: ownPlace},
		Rule{IDs: "own.file.fallocate own.file.copy-range", What: "writing to a file that is open to read", Want: "EBADF", NoTwin: ownPlace},
		Rule{IDs: "own.file.mmap own.file.mprotect", What: "writing to the mapping of a file that is open to read", Want: "EACCES", NoTwin: ownPlace},
		Rule{IDs: "own.file.mknod-over", What: "a new file in place of one", Want: "EEXIST", NoTwin: ownPlace},
		Rule{IDs: "own.file.flags", What: "flags of the file system, set as they are", Want: "OK|ENOTTY|EPERM|EOPNOTSUPP", Why: "not every file system has flags", NoTwin: ownPlace},
		Rule{IDs: "own.*.setxattr", What: "attributes of one's own", Want: "OK|EOPNOTSUPP", Why: "not every file system has them", NoTwin: ownPlace},
		Rule{IDs: "own.dir.tmpfile", What: "a file without a name", Want: "OK|EOPNOTSUPP", Why: "not every file system has them", NoTwin: ownPlace},
		Rule{IDs: "own.*", What: "the same calls in a place of one's own", Want: "OK", NoTwin: ownPlace},
	)
}

func pathRules() []Rule {
	return class(
		"paths",
		Rule{IDs: "absent.root", What: "root's home", Want: "ENOENT|EACCES|EMPTY", Why: "it may be there, and closed or empty", NoTwin: perHost},
		Rule{IDs: "absent.*", What: "parts of the host's tree", Want: "ENOENT", NoTwin: perHost},
		Rule{IDs: "escape.fchdir", What: "descriptors of directories that came along", Want: "none", NoTwin: tellsOfSelf},
		Rule{IDs: "escape.dotdot* escape.proc-root escape.proc-root-dotdot escape.thread-root", What: "the parent of the root", Want: "same", NoTwin: sameEverywhere},
		Rule{IDs: "escape.beneath", What: "a path out of a directory that is closed upwards", Want: "ENOSYS", Why: "openat2 is refused: its mode is behind a pointer", Twin: "EXDEV"},
		Rule{IDs: "escape.in-root", What: "the host's passwords, below a directory that is made the root", Want: "ENOSYS", Why: "openat2 is refused: its mode is behind a pointer", Twin: "ENOENT"},
		Rule{IDs: "escape.relative escape.proc-cwd escape.proc-root.shadow escape.link.shadow", What: "the host's passwords", Want: "ENOENT", NoTwin: perHost},
		Rule{IDs: "escape.no-magic", What: "a magic link where none is allowed", Want: "ENOSYS", Why: "openat2 is refused: its mode is behind a pointer", Twin: "ELOOP"},
		Rule{IDs: "escape.link.*", What: "links to what PID 1 has", Want: "EACCES", Twin: "OK"},
		Rule{IDs: "host.canary host.canary.proc-root host.canary.link", What: "a file of the host", Want: "ENOENT", Twin: "OK"},
		Rule{IDs: "host.canary.init-*", What: "a file of the host by the root of PID 1", Want: "EACCES", NoTwin: namesHost},
		Rule{
			IDs: "exe.write exe.rdwr exe.trunc exe.thread", What: "the running program", Want: "ETXTBSY|EACCES|EROFS",
			Why: "ETXTBSY: it lies in the work directory; else it is another's, or on a read-only mount", NoTwin: sameEverywhere,
		},
		Rule{IDs: "exe.copy.*", What: "a running copy in the work directory and in memory", Want: "ETXTBSY", NoTwin: sameEverywhere},
	)
}

func deviceRules() []Rule {
	return class(
		"devices",
		Rule{IDs: "device.absent.*", What: "devices of the host", Want: "ENOENT", NoTwin: perHost},
		Rule{IDs: "device.tty", What: "a controlling terminal", Want: "ENXIO", NoTwin: tellsOfSelf},
		Rule{IDs: "device.null.read", What: "devices that must work", Want: "EMPTY", NoTwin: ownPlace},
		Rule{IDs: "device.full", What: "devices that must work", Want: "ENOSPC", NoTwin: ownPlace},
		Rule{IDs: "device.rename", What: "moving a device away", Want: "EROFS", NoTwin: "the twin has the host's /dev"},
		Rule{IDs: "device.*", What: "devices that must work", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "mknod.*.dev mknod.*.usr", What: "new device nodes where nothing can be made", Want: "EROFS", NoTwin: hostCapability},
		Rule{
			IDs: "mknod.whiteout.*", What: "the device 0:0, which stands for a removed file in overlays", Want: "made:EACCES|EPERM|EACCES",
			Why: "anybody may make one since Linux 5.8, and nobody can open one where the mount is nodev", NoTwin: sameEverywhere,
		},
		Rule{IDs: "mknod.*", What: "new device nodes", Want: "EPERM|EACCES", Why: "EACCES: Landlock answers first on some kernels", NoTwin: hostCapability},
	)
}
