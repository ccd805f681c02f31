package native

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// keeper is the process that holds a work directory: see the second diagram of package spec. It ends when our end
// of its socket is closed, also by our own death.
type keeper struct {
	conn  *conn
	proc  *os.Process
	ended chan struct{}
}

// startKeeper starts this program again, in a user and a mount namespace of its own. The user namespace is the
// file system's: it knows the ids of who writes there, which is we, and on the host the script's, which are the
// same unless we are root. Then root owns what is in it, and the keeper itself is who scripts are.
//
// With overlay it has CAP_DAC_OVERRIDE too, which in its user namespace is the right to what belongs to who scripts are: overlayfs
// works as who has mounted it, in a directory that nobody may enter.
func startKeeper(id *identity, self *os.File, stderr *launcherOutput, overlay bool) (*keeper, error) {
	c, theirs, err := newConn()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	uids := []syscall.SysProcIDMap{{ContainerID: spec.UID, HostID: id.uid, Size: 1}}
	gids := []syscall.SysProcIDMap{{ContainerID: spec.GID, HostID: id.gid, Size: 1}}
	if id.owner != nil {
		uids = append(uids, syscall.SysProcIDMap{ContainerID: 0, HostID: os.Geteuid(), Size: 1})
		gids = append(gids, syscall.SysProcIDMap{ContainerID: 0, HostID: os.Getegid(), Size: 1})
	}
	caps := []uintptr{unix.CAP_SYS_ADMIN}
	if overlay {
		caps = append(caps, unix.CAP_DAC_OVERRIDE)
	}
	cmd := &exec.Cmd{
		Path:       selfPath,
		Args:       []string{"sandbar", spec.Arg, spec.Keeping},
		Env:        []string{},
		ExtraFiles: []*os.File{theirs, self},
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: uids,
			GidMappings: gids,
			// As in userns: not root in its namespace, so that it has these capabilities from its first
			// instruction on and never another.
			GidMappingsEnableSetgroups: id.owner != nil,
			Credential:                 &syscall.Credential{Uid: spec.UID, Gid: spec.GID, NoSetGroups: id.owner == nil},
			AmbientCaps:                caps,
			Setsid:                     true,
		},
	}
	err = stderr.connect(cmd)
	if err == nil {
		err = cmd.Start()
	}
	stderr.started()
	if err != nil {
		stderr.finish()
		return nil, errors.Join(err, c.close())
	}
	k := &keeper{conn: c, proc: cmd.Process, ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		_ = cmd.Wait() // killed or not, it has no more to say
	}()
	return k, nil
}

// ask sends a message and receives the n mounts that answer it. The caller closes them.
func (k *keeper) ask(kind spec.Kind, payload []byte, want spec.Kind, n int) ([]*os.File, error) {
	if err := k.conn.send(kind, payload); err != nil {
		return nil, err
	}
	got, payload, fds, err := k.conn.receive()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it has ended")
	case err != nil:
		return nil, err
	case got == want && len(fds) == n:
		mounts := make([]*os.File, n)
		for i, fd := range fds {
			mounts[i] = os.NewFile(uintptr(fd), "work directory")
		}
		return mounts, nil
	}
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	if got != spec.KindFailed {
		return nil, fmt.Errorf("%w: %s with %d descriptors instead of %s", spec.ErrProtocol, got, len(fds), want)
	}
	f, err := spec.ParseFailed(payload)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w", f.Step, &initError{f})
}

// close ends the keeper and waits until it is gone.
func (k *keeper) close() error {
	err := k.conn.close()
	if errors.Is(err, net.ErrClosed) {
		err = nil // it has not answered, and was ended then
	}
	_ = k.proc.Kill()
	select {
	case <-k.ended:
		return err
	case <-time.After(closePatience):
		return errors.Join(err, fmt.Errorf("process %d, which keeps a work directory, does not end", k.proc.Pid))
	}
}
