package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// Report is what Probe found. The names of its JSON fields are stable.
type Report struct {
	Host Host `json:"host"`
	// Findings are in a fixed order: the backends, then the features.
	Findings []Finding `json:"findings"`
}

// Host is what is known of the host without trying anything.
type Host struct {
	// OS and Arch are as in GOOS and GOARCH. Kernel is the release that the kernel tells, empty when unknown.
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	// UID is our effective user; -1 where there are none.
	UID int `json:"uid"`
	// Container is the kind of container that we run in, as "docker"; empty when nothing tells of one.
	Container string `json:"container"`
	// GVisor: the kernel is gVisor's.
	GVisor bool `json:"gvisor"`
}

// String is the host in one line, for people.
func (h Host) String() string {
	words := []string{h.OS + "/" + h.Arch}
	if h.Kernel != "" {
		words = append(words, "kernel "+h.Kernel)
	}
	if h.UID >= 0 {
		words = append(words, fmt.Sprintf("user %d", h.UID))
	}
	if h.Container != "" {
		words = append(words, "in a container ("+h.Container+")")
	}
	if h.GVisor {
		words = append(words, "gVisor")
	}
	return strings.Join(words, ", ")
}

// FindingKind says what a Finding is about.
type FindingKind string

// The kinds of findings.
const (
	// KindBackend: Name is a Backend, which was used for a run.
	KindBackend FindingKind = "backend"
	// KindFeature: one thing that a backend needs or uses where it is there.
	KindFeature FindingKind = "feature"
)

// Finding is one thing that was tried.
type Finding struct {
	Name string      `json:"name"`
	Kind FindingKind `json:"kind"`
	OK   bool        `json:"ok"`
	// Detail says what was found, or what the error was.
	Detail string `json:"detail"`
	// Cause names the setting of this host that stands in the way, Remedy what to do about it. They are empty when
	// unknown, and when OK.
	Cause  string `json:"cause"`
	Remedy string `json:"remedy"`
}

// Backend returns the finding for a backend.
func (r *Report) Backend(b Backend) Finding {
	for _, f := range r.Findings {
		if f.Kind == KindBackend && f.Name == string(b) {
			return f
		}
	}
	return Finding{Name: string(b), Kind: KindBackend, Detail: "not tried"}
}

// ProbeOptions are for Probe. Nil and the zero value mean the defaults.
type ProbeOptions struct {
	// Bubblewrap is the path of bwrap, as in Options.
	Bubblewrap string
	// Timeout bounds the whole probe, and two fifths of it each attempt. What was not tried by then is reported so.
	// Zero: 5 seconds.
	Timeout time.Duration
	// Backends are those to try, and then no features are. Empty: all, and the features.
	Backends []Backend
}

const defaultProbeTimeout = 5 * time.Second

// Probe tells what works on this host and, for what does not, why. Each finding comes from trying it: a backend runs
// a script, a feature is used by a process of its own; settings are read afterwards, to name the one at fault.
// The backends are tried as they are used otherwise, so with version 2 of cgroups this process may be moved into a
// leaf group, as by the first session. Nothing else is left behind.
//
// Probe works on every system; on those without the native tier all findings say so.
func Probe(ctx context.Context, opts *ProbeOptions) *Report {
	p := &prober{settings: hostSettings()}
	if opts != nil {
		p.opts = *opts
	}
	if p.opts.Timeout <= 0 {
		p.opts.Timeout = defaultProbeTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	r := &Report{Host: p.host()}
	backends, features := p.opts.Backends, []feature(nil)
	if len(backends) == 0 {
		backends, features = Backends(), probedFeatures(p)
	}
	for _, b := range backends {
		r.Findings = append(r.Findings, p.attempt(ctx, string(b), KindBackend, func(ctx context.Context) (string, error) { return p.backend(ctx, b) }))
	}
	for _, f := range features {
		r.Findings = append(r.Findings, p.attempt(ctx, f.name, KindFeature, f.try))
	}
	return r
}

// A feature is tried by a function that gives a detail, or an error that may be a *found.
type feature struct {
	name string
	try  func(context.Context) (detail string, err error)
}

// A found error has its cause and remedy with it.
type found struct {
	err           error
	cause, remedy string
}

func (e *found) Error() string { return e.err.Error() }

func (e *found) Unwrap() error { return e.err }

// prober is one Probe.
type prober struct {
	opts     ProbeOptions
	settings *settings
}

// patience bounds an attempt: two that hang leave time for the rest.
func (p *prober) patience() time.Duration { return p.opts.Timeout * 2 / 5 }

func (p *prober) host() Host {
	s := p.settings
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: s.kernel, UID: os.Geteuid(), Container: string(s.container), GVisor: s.gvisor}
}

// attempt makes a finding of one try.
func (p *prober) attempt(ctx context.Context, name string, kind FindingKind, try func(context.Context) (string, error)) Finding {
	f := Finding{Name: name, Kind: kind}
	if ctx.Err() != nil {
		f.Detail = "not tried: the time for the probe is over"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, p.patience())
	defer cancel()
	detail, err := try(ctx)
	if err == nil {
		f.OK, f.Detail = true, detail
		return f
	}
	f.Detail, f.Cause, f.Remedy = tell(err)
	return f
}

// tell takes the cause and the remedy that an error knows out of its text.
func tell(err error) (detail, cause, remedy string) {
	detail = err.Error()
	if e, ok := errors.AsType[*StartError](err); ok {
		cause, remedy = e.Cause, e.Remedy
		bare := *e
		bare.Cause, bare.Remedy = "", ""
		detail = strings.TrimPrefix(bare.Error(), "backend "+string(e.Backend)+": ")
	}
	if e, ok := errors.AsType[*cgroup.Unavailable](err); ok {
		bare := *e
		bare.Remedy = ""
		detail, remedy = strings.Replace(detail, e.Error(), bare.Error(), 1), e.Remedy
	}
	if e, ok := errors.AsType[*found](err); ok {
		cause, remedy = e.cause, e.remedy
	}
	return short(strings.TrimPrefix(detail, engine.ErrNotAvailable.Error()+": ")), cause, remedy
}

// short bounds a detail: a launcher may write much.
func short(s string) string {
	const most = 400
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// cellScript checks a few things from inside; the init has proved the confinement by itself before.
const cellScript = `[ "$PWD" = ` + engine.WorkDir + ` ] || { echo "the working directory is $PWD"; exit 1; }
[ "$(id -u)" = 1000 ] || { echo "the user is $(id -u)"; exit 1; }
[ -r /proc/self/status ] || { echo "there is no /proc"; exit 1; }
[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 20 ] || { echo "/proc shows the processes of others"; exit 1; }
: >/tmp/probe || exit 1
` + plainScript

// plainScript is for a backend that isolates nothing: it stays in the work directory.
const plainScript = `echo works >probe && read -r word <probe && [ "$word" = works ] || { echo "the work directory cannot be used"; exit 1; }
`

// backend opens a session of a backend and runs a script in it.
func (p *prober) backend(ctx context.Context, b Backend) (detail string, err error) {
	// The backend gives up before we do: then it says what it waited for.
	d, err := New(&Options{Backend: b, Bubblewrap: p.opts.Bubblewrap, StartTimeout: p.patience() * 3 / 4})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	o := &engine.Options{}
	if b == None {
		o.Network = netpolicy.Open // it can do no less
	}
	s, err := d.Open(ctx, o)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	script := cellScript
	if b == None || b == SandboxExec {
		script = plainScript
	}
	out, err := s.Exec(ctx, script, &engine.RunOptions{Type: engine.Shell, Timeout: p.patience()})
	if err != nil {
		return "", err
	}
	if r := out.Result; r.ExitCode != 0 || r.Reason != engine.ReasonExited {
		return "", fmt.Errorf("a script that checks the cell ended by %s with exit code %d: %q", r.Reason, r.ExitCode, append(out.Stdout, out.Stderr...))
	}
	return describe(d.Info()), nil
}

// notAvailable is what Info says of what is not enforced, before it says why.
const notAvailable = "not available"

// describe says in one line what a backend enforces.
func describe(info engine.DriverInfo) string {
	var parts []string
	for _, name := range []string{"landlock", "seccomp", "cgroup"} {
		v := info.Enforced[name]
		if strings.HasPrefix(v, notAvailable) {
			v = notAvailable // why is in the finding of that feature
		}
		if v != "" {
			parts = append(parts, name+" "+v)
		}
	}
	return strings.Join(append(parts, info.Warnings...), "; ")
}
