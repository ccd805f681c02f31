package cgroup

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// hostLeaf is the child group that holds the embedding process where version 2 needs one.
const hostLeaf = "sandbar-host"

const prefix = "sandbar-"

// maxName bounds the last part of a group's name, in bytes; the kernel's limit for all of it is 255.
const maxName = 100

// owner is the process that a group belongs to.
type owner struct {
	pid   int
	start uint64 // in clock ticks since boot, as the 22nd field of /proc/<pid>/stat
	// Inode numbers of the namespaces in which pid and start mean something. timens is zero where the kernel has none.
	pidns, timens uint64
}

// String is the part of a group's name that tells the owner.
func (o owner) String() string {
	return fmt.Sprintf("%s%d-%d-%d.%d-", prefix, o.pid, o.start, o.pidns, o.timens)
}

// parseOwner tells whose group a directory is, and false for one that is none of ours.
func parseOwner(dir string) (owner, bool) {
	rest, ok := strings.CutPrefix(dir, prefix)
	fields := strings.SplitN(rest, "-", 4)
	if !ok || len(fields) != 4 || fields[3] == "" {
		return owner{}, false
	}
	pidns, timens, ok := strings.Cut(fields[2], ".")
	pid, err := strconv.ParseInt(fields[0], 10, 32)
	if !ok || err != nil || pid <= 0 {
		return owner{}, false
	}
	o := owner{pid: int(pid)}
	var errs [3]error
	o.start, errs[0] = strconv.ParseUint(fields[1], 10, 64)
	o.pidns, errs[1] = strconv.ParseUint(pidns, 10, 64)
	o.timens, errs[2] = strconv.ParseUint(timens, 10, 64)
	if errors.Join(errs[:]...) != nil {
		return owner{}, false
	}
	// What we did not write ourselves (a leading zero, a sign) is not ours.
	return o, strings.HasPrefix(dir, o.String())
}

// checkName refuses a name that is no single path element.
func checkName(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsAny(name, "/\x00\n") {
		return fmt.Errorf("group name %q: want 1 to %d bytes without slash, newline or NUL", name, maxName)
	}
	return nil
}
