package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

// The defaults that Options and Limits name.
const (
	DefaultTimeout   = 60 * time.Second
	DefaultMaxOutput = 8 << 20

	defaultMemory    = 512 << 20
	defaultOpenFiles = 256
	defaultTmp       = 64 << 20
	defaultTmpFiles  = 4096
	defaultProcesses = 256
)

// MaxScript is the size of the largest script, in bytes.
const MaxScript = 64 << 20

// MaxValue is the size of the longest Result.Value, in bytes.
const MaxValue = 1 << 20

// maxName is the longest file name of Linux, NAME_MAX.
const maxName = 255

// limitField gives each limit by its name, for messages and for what tiers cannot enforce.
type limitField struct {
	name  string
	value int64
}

func (l *Limits) fields() []limitField {
	return []limitField{
		{"Memory", l.Memory},
		{"CPU", int64(l.CPU)},
		{"Output", l.Output},
		{"OpenFiles", int64(l.OpenFiles)},
		{"FileSize", l.FileSize},
		{"Tmp", l.Tmp},
		{"TmpFiles", l.TmpFiles},
		{"Disk", l.Disk},
		{"DiskFiles", l.DiskFiles},
		{"Processes", int64(l.Processes)},
	}
}

func (l *Limits) check() error {
	for _, f := range l.fields() {
		if f.value < 0 {
			return &InvalidError{"Limits." + f.name, "is negative"}
		}
	}
	return nil
}

// DefaultLimits are those of a session that asks for none. Zero is no limit there.
func DefaultLimits() Limits { return Limits{}.filled() }

// filled puts the defaults in the place of zeros.
func (l Limits) filled() Limits {
	or(&l.Memory, defaultMemory)
	or(&l.OpenFiles, defaultOpenFiles)
	or(&l.Tmp, defaultTmp)
	or(&l.TmpFiles, defaultTmpFiles)
	or(&l.Processes, defaultProcesses)
	return l
}

func or[T int | int64 | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// check looks at what needs nothing of the host. Work directory and grants have their own checks.
func (o *Options) check() error {
	if o.Timeout < 0 {
		return &InvalidError{"Timeout", "is negative"}
	}
	if err := o.checkPlace(); err != nil {
		return err
	}
	if err := checkEnv(o.Env); err != nil {
		return err
	}
	if err := checkStrings("Env", environment(WorkDir, o.Env, nil, o.Venv)); err != nil {
		return err
	}
	return o.Limits.check()
}

// checkPlace looks at where runs go and what they reach.
func (o *Options) checkPlace() error {
	switch o.PythonTier {
	case "", TierAuto, TierWasm, TierNative:
	default:
		return &InvalidError{"PythonTier", fmt.Sprintf("%q is not a tier; there are auto, wasm and native", shorten(string(o.PythonTier)))}
	}
	return checkNetwork(o.Network)
}

// checkWarm looks at Options.Warm.
func (o *Options) checkWarm(tiers map[Tier]*tier) error {
	problem := ""
	switch {
	case o.Warm == "":
	case o.PythonTier == TierNative || tiers[TierWasm] == nil:
		problem = "is for the wasm tier, and no Python script of this session runs there"
	case len(o.Warm) > MaxScript:
		problem = fmt.Sprintf("has %d bytes, more than the maximum of %d", len(o.Warm), MaxScript)
	case strings.ContainsRune(o.Warm, 0):
		problem = "contains NUL"
	}
	if problem != "" {
		return &InvalidError{"Warm", problem}
	}
	return nil
}

// checkNetwork refuses what is not a mode, and the mode that cannot be had.
func checkNetwork(m netpolicy.Mode) error {
	switch {
	case m != "" && !m.Known():
		return &InvalidError{"Network", fmt.Sprintf("%q is not a mode; there are %v", shorten(string(m)), netpolicy.Modes())}
	case m == netpolicy.Allowlist:
		return fmt.Errorf("%w: network mode %s", ErrNotAvailable, m)
	}
	return nil
}

// checkCeiling refuses a run more of the network than its session has.
func (o *RunOptions) checkCeiling(ceiling netpolicy.Mode) error {
	if err := checkNetwork(o.Network); err != nil {
		return err
	}
	if !o.Network.Within(ceiling) {
		return &InvalidError{"Network", fmt.Sprintf("%s is more than the session's %s", o.Network, ceiling)}
	}
	return nil
}

// maxTerminal is the largest size that a terminal can have in either direction: struct winsize, ioctl_tty(2).
const maxTerminal = 65535

func (t *TerminalSize) check() error {
	if t == nil {
		return nil
	}
	if t.Rows < 1 || t.Rows > maxTerminal || t.Cols < 1 || t.Cols > maxTerminal {
		return &InvalidError{"Terminal", fmt.Sprintf("%d rows, %d columns: each is from 1 to %d", t.Rows, t.Cols, maxTerminal)}
	}
	return nil
}

// check looks at the options of a run, Cwd and Network aside.
func (o *RunOptions) check(script string) error {
	switch {
	case o.Type != Python && o.Type != Shell:
		return &InvalidError{"Type", fmt.Sprintf("%q is not a script type; there are python and shell", shorten(string(o.Type)))}
	case len(script) > MaxScript:
		return &InvalidError{"script", fmt.Sprintf("has %d bytes, more than the maximum of %d", len(script), MaxScript)}
	case strings.ContainsRune(script, 0):
		return &InvalidError{"script", "contains NUL"}
	case o.Timeout < 0:
		return &InvalidError{"Timeout", "is negative"}
	case o.Interpreter != InterpreterFresh && o.Interpreter != InterpreterSession:
		return &InvalidError{"Interpreter", fmt.Sprintf("%q is not known; there are fresh and session", shorten(string(o.Interpreter)))}
	case o.Interpreter == InterpreterSession && o.Type != Python:
		return &InvalidError{"Interpreter", "is for Python scripts"}
	case o.Interpreter == InterpreterSession && o.Terminal != nil:
		return &InvalidError{"Interpreter", "has no terminal"}
	case o.StdinPipe && o.Stdin != nil:
		return &InvalidError{"StdinPipe", "cannot be set together with Stdin"}
	}
	if err := o.Terminal.check(); err != nil {
		return err
	}
	if problem := nameProblem(o.Name); problem != "" {
		return &InvalidError{"Name", fmt.Sprintf("%q %s", shorten(o.Name), problem)}
	}
	if err := checkArgs(o.Args); err != nil {
		return err
	}
	return checkEnv(o.Env)
}

// nameProblem says why name cannot be the last element of a path.
func nameProblem(name string) string {
	switch {
	case name == "" || name == "." || name == "..":
		return "is not a file name"
	case strings.ContainsAny(name, "/\x00"):
		return `has "/" or NUL in it`
	case len(name) > maxName:
		return fmt.Sprintf("has %d bytes, more than the maximum of %d", len(name), maxName)
	}
	return ""
}

// filled puts the session's settings and the defaults in the place of zeros.
func (o RunOptions) filled(session *Options) RunOptions {
	if o.Type == "" {
		o.Type = Python
	}
	if o.Interpreter == "" {
		o.Interpreter = InterpreterFresh
	}
	if o.Name == "" {
		o.Name = "main.py"
		if o.Type == Shell {
			o.Name = "main.sh"
		}
	}
	if o.Network == "" {
		o.Network = session.Network
	}
	or(&o.Timeout, session.Timeout)
	or(&o.MaxOutput, session.MaxOutput)
	return o
}

// filled puts the defaults in the place of zeros.
func (o Options) filled() Options {
	or(&o.Timeout, DefaultTimeout)
	or(&o.MaxOutput, DefaultMaxOutput)
	if o.Network == "" {
		o.Network = netpolicy.Blocked
	}
	if o.PythonTier == "" {
		o.PythonTier = TierAuto
	}
	return o
}
