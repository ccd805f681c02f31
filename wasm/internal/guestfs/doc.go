// Package guestfs is the file system that a guest of the wasm tier sees: a mount table under "/" with
// the session's work directory, granted host paths, static trees (the standard library), an in-memory
// /tmp, the script and a small /dev. It implements experimental/sys.FS and File of wazero.
//
// It is a security boundary. The guest is hostile, and so are the processes that share the work
// directory with it: they plant links, FIFOs and sockets, and rename things while a call is under way.
//
// # How a path is resolved
//
// A path means what it means in the guest's name space: "/" is the mount table's root, ".." stops there,
// and a link with an absolute target starts there, wherever it lies. No path is ever resolved by the
// host's kernel as a whole. Each host mount is an os.Root, and every host call goes through it, or through
// a directory descriptor that came out of it and a last component that the call does not follow.
// So a lie about what a component is, told by someone who swaps it, can at worst make us act on another
// file of the same mount.
//
// A call first hands the plain rest of the path to the mount (the fast path). os.Root follows links by
// itself as long as they stay below the root. That gives what the guest's name space would give, because
// no mount lies inside a host mount (NewSession refuses it): below its root, the mount's tree and the
// guest's tree are the same. A link that leaves, an absolute one, or more than eight links make os.Root
// refuse; then the walk expands the first link of the path in the guest's name space and tries again
// (see walk). The walk only chooses which path to ask for next; it grants nothing.
//
// # What is promised
//
//   - Only regular files and directories are opened on the host. FIFOs, sockets and devices are refused
//     with EACCES before they are touched; what is opened is compared with what was looked at.
//   - A mount that is read-only answers EROFS to everything that would change it.
//   - Modes are masked to 0777: no set-user-ID, set-group-ID or sticky bit is set for a guest, and none is
//     shown to it. A new file or directory gets exactly the permission that the caller gives; the host
//     process's umask does not take part.
//   - As root on Linux, calls on host mounts are made without capabilities: permission bits hold for the guest as they
//     do for a script of the native tier, which owns what root owns. A directory that may be searched and not read
//     (0311) cannot be gone through, since os.Root opens it for reading.
//   - Device numbers are small numbers of our own; the host's are not shown. Inode numbers are the host's.
//
// # What is not
//
// A hard link that somebody with access to both places made inside a mount to a file outside it is a file of
// the mount like any other; nothing tells the two apart. A guest cannot make one: Link does not cross mounts.
// The in-memory /tmp stores permission bits and does not check them. A link chain may be as long as 48 before
// ELOOP, since os.Root follows up to eight by itself; 40 always work.
package guestfs
