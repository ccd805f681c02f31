package spec

// Keeping is the second argument of the keeper of a work directory.
const Keeping = "keep"

// Keep is the work directory that a keeper makes, encoded as JSON.
type Keep struct {
	// Size is in bytes, a multiple of the page size. Inodes counts the directory itself. Zero is no limit.
	Size, Inodes int64
	// UID and GID own the directory: ids of the keeper's user namespace.
	UID, GID int
}
