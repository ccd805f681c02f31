package wire

import (
	"io/fs"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// fileTypes are the types of files by fs.FileMode.Type. What is none of them is unspecified on the wire.
var fileTypes = []struct {
	mode fs.FileMode
	wire sandboxv2.FileType
}{
	{0, sandboxv2.FileType_FILE_TYPE_REGULAR},
	{fs.ModeDir, sandboxv2.FileType_FILE_TYPE_DIRECTORY},
	{fs.ModeSymlink, sandboxv2.FileType_FILE_TYPE_SYMLINK},
	{fs.ModeNamedPipe, sandboxv2.FileType_FILE_TYPE_FIFO},
	{fs.ModeSocket, sandboxv2.FileType_FILE_TYPE_SOCKET},
	{fs.ModeDevice | fs.ModeCharDevice, sandboxv2.FileType_FILE_TYPE_CHAR_DEVICE},
	{fs.ModeDevice, sandboxv2.FileType_FILE_TYPE_BLOCK_DEVICE},
}

// modeBits are those beside the permission bits, as chmod(2) has them.
var modeBits = []struct {
	mode fs.FileMode
	wire uint32
}{
	{fs.ModeSticky, 0o1000},
	{fs.ModeSetgid, 0o2000},
	{fs.ModeSetuid, 0o4000},
}

func fileType(mode fs.FileMode) sandboxv2.FileType {
	for _, t := range fileTypes {
		if mode.Type() == t.mode {
			return t.wire
		}
	}
	return sandboxv2.FileType_FILE_TYPE_UNSPECIFIED
}

func toFileType(wire sandboxv2.FileType) fs.FileMode {
	for _, t := range fileTypes {
		if wire == t.wire {
			return t.mode
		}
	}
	return fs.ModeIrregular
}

// Mode is the permission bits of a mode with those for sticky, set-group-ID and set-user-ID, as chmod(2) has them.
func Mode(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for _, b := range modeBits {
		if mode&b.mode != 0 {
			bits |= b.wire
		}
	}
	return bits
}

// ToMode is the twin of Mode. A bit that Mode never sets is an *engine.InvalidError.
func ToMode(bits uint32) (fs.FileMode, error) {
	if bits&^0o7777 != 0 {
		return 0, &engine.InvalidError{Field: "Mode", Problem: "has more than permission bits"}
	}
	return replyMode(bits), nil
}

// replyMode is ToMode for what a server says.
func replyMode(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits) & fs.ModePerm
	for _, b := range modeBits {
		if bits&b.wire != 0 {
			mode |= b.mode
		}
	}
	return mode
}

// FileInfo makes the message of i.
func FileInfo(i *engine.FileInfo) *sandboxv2.FileInfo {
	m := &sandboxv2.FileInfo{SizeBytes: i.Size, Type: fileType(i.Mode), Mode: Mode(i.Mode), ModifiedAt: Timestamp(i.ModTime)}
	SetText(&m.Name, &m.NameRaw, i.Name)
	return m
}

// ToFileInfo is the twin of FileInfo. The time is local.
func ToFileInfo(m *sandboxv2.FileInfo) engine.FileInfo {
	return engine.FileInfo{
		Name:    replyText(m.GetName(), m.GetNameRaw()),
		Size:    m.GetSizeBytes(),
		Mode:    toFileType(m.GetType()) | replyMode(m.GetMode()),
		ModTime: ToTimestamp(m.GetModifiedAt()),
	}
}

// Change makes the message of c. A type that is unspecified, with a mode of 0, says that there is or was nothing.
func Change(c *engine.Change) *sandboxv2.Change {
	m := &sandboxv2.Change{
		Kind:         changeKinds.number(c.Kind),
		Mode:         Mode(c.Mode),
		OldMode:      Mode(c.OldMode),
		SizeBytes:    c.Size,
		OldSizeBytes: c.OldSize,
		Sha256:       valid(c.SHA256),
		Unread:       c.Unread,
	}
	// A regular file without any permission has the mode 0 as well: the kind tells the two apart.
	if c.Mode != 0 || c.Kind != engine.Removed {
		m.Type = fileType(c.Mode)
	}
	if c.OldMode != 0 || c.Kind != engine.Added {
		m.OldType = fileType(c.OldMode)
	}
	SetText(&m.Path, &m.PathRaw, c.Path)
	SetText(&m.Target, &m.TargetRaw, c.Target)
	return m
}

// ToChange is the twin of Change.
func ToChange(m *sandboxv2.Change) engine.Change {
	return engine.Change{
		Path:    replyText(m.GetPath(), m.GetPathRaw()),
		Kind:    changeKinds.name(m.GetKind()),
		Mode:    changeMode(m.GetType(), m.GetMode()),
		OldMode: changeMode(m.GetOldType(), m.GetOldMode()),
		Size:    m.GetSizeBytes(),
		OldSize: m.GetOldSizeBytes(),
		SHA256:  m.GetSha256(),
		Target:  replyText(m.GetTarget(), m.GetTargetRaw()),
		Unread:  m.GetUnread(),
	}
}

func changeMode(t sandboxv2.FileType, bits uint32) fs.FileMode {
	if t == sandboxv2.FileType_FILE_TYPE_UNSPECIFIED && bits == 0 {
		return 0
	}
	return toFileType(t) | replyMode(bits)
}
