package native

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// initCapabilities are what the first stage of the init needs in its own user namespace. The second has none.
var initCapabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

// namespaces are those of every cell. That of cgroups comes later, by the init itself.
const namespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS

// userns makes the command that starts this program again as the init of new namespaces.
func (b *blueprint) userns(theirs *os.File) (*exec.Cmd, error) {
	b.setup.BuildRoot, b.setup.Base = true, b.plan.Base
	flags := uintptr(namespaces)
	if b.alone {
		flags |= syscall.CLONE_NEWNET
	}
	id := b.identity
	return &exec.Cmd{
		Path:       selfPath,
		Args:       []string{"sandbar", spec.Arg},
		Env:        []string{},
		ExtraFiles: b.files(theirs),
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags:  flags,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: spec.UID, HostID: id.uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: spec.GID, HostID: id.gid, Size: 1}},
			// As root our supplementary groups are dropped; else the kernel does not let us (user_namespaces(7)).
			GidMappingsEnableSetgroups: id.owner != nil,
			Credential:                 &syscall.Credential{Uid: spec.UID, Gid: spec.GID, NoSetGroups: id.owner == nil},
			AmbientCaps:                initCapabilities,
			Setsid:                     true, // no terminal, and no signals from ours
		},
	}, nil
}

// selfPath is this program in a process that has it as descriptor spec.FDSelf: it may be deleted, or lie in
// a directory that the script's user cannot enter.
var selfPath = "/proc/self/fd/" + strconv.Itoa(spec.FDSelf)
