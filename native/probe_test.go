package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
)

// unhurried is for what a test means to work: the machine may be busy, and the race detector slow.
var unhurried = &ProbeOptions{Timeout: time.Minute}

// The names are an interface: programs read them.
func TestReport_JSON(t *testing.T) {
	r := Report{
		Host:     Host{OS: "linux", Arch: "amd64", Kernel: "6.1", UID: 1, Container: "docker", GVisor: true},
		Findings: []Finding{{Name: "userns", Kind: KindBackend, OK: true, Detail: "d", Cause: "c", Remedy: "r"}},
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"host":{"os":"linux","arch":"amd64","kernel":"6.1","uid":1,"container":"docker","gvisor":true},` +
		`"findings":[{"name":"userns","kind":"backend","ok":true,"detail":"d","cause":"c","remedy":"r"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReport_Backend(t *testing.T) {
	r := Report{Findings: []Finding{{Name: "none", Kind: KindFeature, OK: true}, {Name: "none", Kind: KindBackend, Detail: "x"}}}
	if f := r.Backend(None); f.OK || f.Detail != "x" {
		t.Errorf("Backend(None) = %+v", f)
	}
	if f := r.Backend(Userns); f.OK || f.Name != "userns" || f.Kind != KindBackend {
		t.Errorf("Backend(Userns) = %+v", f)
	}
}

func TestProbe(t *testing.T) {
	r := Probe(t.Context(), unhurried)
	if r.Host.OS != runtime.GOOS || r.Host.Arch != runtime.GOARCH {
		t.Errorf("host %+v", r.Host)
	}
	var backends, features []string
	for _, f := range r.Findings {
		t.Logf("%-8s %-18s %-5v %s | %s | %s", f.Kind, f.Name, f.OK, f.Detail, f.Cause, f.Remedy)
		switch f.Kind {
		case KindBackend:
			backends = append(backends, f.Name)
		case KindFeature:
			features = append(features, f.Name)
		default:
			t.Errorf("kind %q", f.Kind)
		}
		if f.OK && (f.Cause != "" || f.Remedy != "") {
			t.Errorf("%s works and has a cause or remedy: %+v", f.Name, f)
		}
		if !f.OK && f.Detail == "" {
			t.Errorf("%s does not work and does not say how it went: %+v", f.Name, f)
		}
	}
	if want := []string{"bubblewrap", "userns", "none", "sandbox-exec"}; !slices.Equal(backends, want) {
		t.Errorf("backends %v, want %v", backends, want)
	}
	for _, name := range []string{"user-namespace", "proc", "landlock", "seccomp", "cgroup", "bwrap"} {
		if !slices.Contains(features, name) {
			t.Errorf("no finding for %s", name)
		}
	}
	if f := r.Backend(SandboxExec); runtime.GOOS != "darwin" && (f.OK || !strings.Contains(f.Detail, "macOS") || f.Remedy == "") {
		t.Errorf("sandbox-exec on %s: %+v", runtime.GOOS, f)
	}
	if f := r.Backend(Userns); runtime.GOOS != "linux" && (f.OK || !strings.Contains(f.Detail, "Linux") || f.Remedy == "") {
		t.Errorf("userns on %s: %+v", runtime.GOOS, f)
	}
}

func TestProbe_Cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range Probe(ctx, nil).Findings {
		if f.OK || !strings.Contains(f.Detail, "not tried") {
			t.Errorf("%s was tried: %+v", f.Name, f)
		}
	}
}

func TestAttempt(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	start := &StartError{Backend: Userns, Step: "loopback", Err: errors.New("refused"), Output: "said", Cause: "cause", Remedy: "remedy"}
	for _, tt := range []struct {
		name string
		err  error
		want Finding
	}{
		{"fine", nil, Finding{OK: true, Detail: "detail"}},
		{"plain", errors.New("plain"), Finding{Detail: "plain"}},
		{"start", errors.Join(start), Finding{Detail: `loopback: refused: "said"`, Cause: "cause", Remedy: "remedy"}},
		{"found", &found{engine.ErrNotAvailable, "cause", "remedy"}, Finding{Detail: engine.ErrNotAvailable.Error(), Cause: "cause", Remedy: "remedy"}},
		{"cgroup", fmt.Errorf("v1; %w", &cgroup.Unavailable{Step: "mkdir", Err: errors.New("no"), Remedy: "delegate"}), Finding{Detail: "v1; cgroup: mkdir: no", Remedy: "delegate"}},
		{"not available", fmt.Errorf("%w: GPU: none", engine.ErrNotAvailable), Finding{Detail: "GPU: none"}},
		{"long", errors.New(long), Finding{Detail: strings.Repeat("ä", 400) + "..."}},
	} {
		tt.want.Name, tt.want.Kind = tt.name, KindFeature
		got := (&prober{opts: ProbeOptions{Timeout: time.Minute}}).attempt(t.Context(), tt.name, KindFeature, func(context.Context) (string, error) { return "detail", tt.err })
		if got != tt.want {
			t.Errorf("got  %+v\nwant %+v", got, tt.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	info := engine.DriverInfo{Enforced: map[string]string{"landlock": "ABI 7", "cgroup": "not available: cgroup: mkdir /x: no", "other": "x"}, Warnings: []string{"beware"}}
	if got, want := describe(info), "landlock ABI 7; cgroup not available; beware"; got != want {
		t.Errorf("describe: %q, want %q", got, want)
	}
}

func TestProbe_Backends(t *testing.T) {
	r := Probe(t.Context(), &ProbeOptions{Backends: []Backend{SandboxExec, None}})
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Name)
	}
	if want := []string{"sandbox-exec", "none"}; !slices.Equal(names, want) {
		t.Errorf("Probe of two backends tried %v, want %v", names, want)
	}
	if r.Host.OS != runtime.GOOS || !strings.HasPrefix(r.Host.String(), runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("host %q", r.Host)
	}
}
