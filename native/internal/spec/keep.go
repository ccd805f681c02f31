package spec

// Keeping is the second argument of the keeper of a work directory.
const Keeping = "keep"

// Keep is the work directory that a keeper makes, encoded as JSON.
type Keep struct {
	// Size is in bytes, a multiple of the page size. Inodes counts the directory itself. Zero is no limit.
	Size, Inodes int64
	// UID and GID own the directory: ids of the keeper's user namespace.
	UID, GID int
	// Lower is an absolute path of the host, the directory with these numbers (stat(2)). If there is one, an overlayfs
	// over it is the work directory, and the first answer has a second descriptor: a mount of the upper layer.
	Lower              string `json:",omitempty"`
	LowerDev, LowerIno uint64 `json:",omitempty"`
}
