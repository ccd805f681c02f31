package native

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
)

// A step is what was being done when it failed, told the same way for all backends.
type step string

const (
	stepUnknown    step = ""
	stepLauncher   step = "launcher"   // bwrap itself: its options and rights
	stepTimeout    step = "timeout"    // nobody answered in time
	stepNamespaces step = "namespaces" // clone(2), unshare(2)
	stepIDs        step = "ids"        // uid_map and gid_map of the new user namespace
	stepRights     step = "rights"     // the first things that the init needs its capabilities for
	stepNetwork    step = "network"    // the loopback of the new network namespace
	stepExecute    step = "execute"    // this program, started again
	stepMount      step = "mount"
	stepProc       step = "proc"    // a /proc of the cell's own
	stepDevpts     step = "devpts"  // terminals of the cell's own
	stepPivot      step = "pivot"   // pivot_root(2)
	stepOwner      step = "owner"   // mounts with another owner
	stepFilter     step = "seccomp" // our own filter
	stepLandlock   step = "landlock"
	stepGroup      step = "cgroup"
	stepNodes      step = "nodes" // device nodes of a GPU
)

// A symptom is a step that failed.
type symptom struct {
	backend Backend // empty for something that was tried by itself
	step    step
	errno   syscall.Errno // zero when none is known
	text    string        // of the error, and what the launcher wrote
}

// is reports that the step failed by one of these errors.
func (y symptom) is(errnos ...syscall.Errno) bool { return slices.Contains(errnos, y.errno) }

// refused reports an error that a policy gives.
func (y symptom) refused() bool { return y.is(syscall.EPERM, syscall.EACCES) }

// during reports that it was one of these steps.
func (y symptom) during(steps ...step) bool { return slices.Contains(steps, y.step) }

// classify makes a symptom of what a StartError has: name is the step in the words of the cell's protocol.
func classify(b Backend, name string, err error, output string) symptom {
	y := symptom{backend: b, text: err.Error() + " " + output}
	errors.As(err, &y.errno)
	y.step = stepOf(name, err.Error(), y.errno)
	if errors.Is(err, context.DeadlineExceeded) {
		y.step = stepTimeout
	}
	if b == Bubblewrap && y.step == stepUnknown {
		y.step, y.errno = heardFromBwrap(output)
	}
	return y
}

// startStep is what failed when Go has started nothing: it makes the namespaces, maps the ids and executes, and
// tells only the error.
func startStep(errno syscall.Errno) step {
	if errno == syscall.EACCES || errno == syscall.ENOENT {
		return stepExecute
	}
	return stepNamespaces
}

// stepOf knows the steps of launch and of the init.
func stepOf(name, text string, errno syscall.Errno) step {
	switch {
	case strings.HasPrefix(name, "start /"), strings.HasPrefix(name, "start of the keeper"):
		return startStep(errno)
	case name == "cgroup namespace", name == "hostname":
		return stepRights
	case name == "loopback":
		return stepNetwork
	case name == "file system":
		return mountStep(text)
	case strings.HasPrefix(name, "keeper of"):
		return stepMount
	case name == "cgroup":
		return stepGroup
	case name == "second stage" && strings.Contains(text, "execveat"):
		return stepExecute
	case name == "confinement" && strings.Contains(text, "landlock"):
		return stepLandlock
	case name == "confinement" && strings.Contains(text, "seccomp"):
		return stepFilter
	}
	return stepUnknown
}

// mountStep tells the mounts apart that fail for a reason of their own.
func mountStep(text string) step {
	switch {
	case strings.HasPrefix(text, "proc "):
		return stepProc
	case strings.HasPrefix(text, "devpts "):
		return stepDevpts
	case strings.HasPrefix(text, "pivot_root"):
		return stepPivot
	}
	return stepMount
}

// bwrapWords are what the messages of bwrap have in them. The first that fits counts.
var bwrapWords = []struct {
	words string
	step  step
}{
	{"setuid mode", stepLauncher},
	{"Unknown option", stepLauncher},
	{"Unexpected capabilities", stepLauncher},
	{"new namespace", stepNamespaces},
	{"uid map", stepIDs},
	{"gid map", stepIDs},
	{"loopback", stepNetwork},
	{"mount proc", stepProc},
	{"pivot_root", stepPivot},
	{"execvp", stepExecute},
	{"/ slave", stepMount},
	{"mount", stepMount},
}

// bwrapErrors are the ends of its messages: strerror(3) in English, since bwrap gets no locale.
var bwrapErrors = []struct {
	words string
	errno syscall.Errno
}{
	{"Operation not permitted", syscall.EPERM},
	{"No permissions", syscall.EPERM},
	{"Permission denied", syscall.EACCES},
	{"No space left on device", syscall.ENOSPC},
	{"(ENOSPC)", syscall.ENOSPC},
	{"Too many users", syscall.EUSERS},
	{"Function not implemented", syscall.ENOSYS},
	{"Invalid argument", syscall.EINVAL},
	{"kernel does not support user namespaces", syscall.EINVAL},
	{"No such file or directory", syscall.ENOENT},
	{"Resource temporarily unavailable", syscall.EAGAIN},
	{"Cannot allocate memory", syscall.ENOMEM},
}

// heardFromBwrap reads the message that bwrap ends with. Without one the step is the launcher itself.
func heardFromBwrap(output string) (s step, errno syscall.Errno) {
	s = stepLauncher
	if i := strings.Index(output, "bwrap: "); i >= 0 {
		output = output[i:]
	}
	for _, w := range bwrapWords {
		if strings.Contains(output, w.words) {
			s = w.step
			break
		}
	}
	for _, w := range bwrapErrors {
		if strings.Contains(output, w.words) {
			return s, w.errno
		}
	}
	return s, 0
}

// diagnosis names what of the settings stands in the way, and what to do about it; both are empty when nothing
// is known. It reads nothing: the same settings and symptom give the same words on every machine.
func diagnosis(s *settings, y symptom) (cause, remedy string) {
	if r := s.row(y); r != nil {
		return r.tell(s, y)
	}
	return "", ""
}

// row is the first row that fits.
func (s *settings) row(y symptom) *row {
	for i := range rows {
		if rows[i].fits(s, y) {
			return &rows[i]
		}
	}
	return nil
}
