package wire

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// wantField wants an *engine.InvalidError that names field and is short.
func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != field {
		t.Errorf("%v, want an invalid %s", err, field)
	}
	if err != nil && len(err.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestToOptions_Refuses(t *testing.T) {
	type m = sandboxv2.SessionOptions
	type l = sandboxv2.Limits
	long := strings.Repeat("N", 1<<20)
	for field, bad := range map[string][]*m{
		"Network":    {{Network: 4}, {Network: -1}, {Network: math.MaxInt32}},
		"PythonTier": {{PythonTier: 4}, {PythonTier: -1}},
		"Timeout": {
			{Timeout: &durationpb.Duration{Seconds: -1}},
			{Timeout: &durationpb.Duration{Nanos: -1}},
			{Timeout: &durationpb.Duration{Nanos: 1_000_000_000}},
			{Timeout: &durationpb.Duration{Seconds: 1, Nanos: -1}},
			{Timeout: &durationpb.Duration{Seconds: math.MaxInt64}},
			{Timeout: &durationpb.Duration{Seconds: math.MinInt64}},
		},
		"Limits.CPU":                  {{Limits: &l{Cpu: &durationpb.Duration{Seconds: -5}}}, {Limits: &l{Cpu: &durationpb.Duration{Seconds: math.MaxInt64}}}},
		`Env["A"]`:                    {{Env: map[string]string{"A": "1"}, EnvRaw: env("A", "secret")}, {EnvRaw: append(env("A", "secret"), env("A", "2")...)}},
		`Env["` + long[:60] + `..."]`: {{EnvRaw: append(env(long, ""), env(long, "")...)}},
	} {
		for _, m := range bad {
			_, _, err := ToOptions(m)
			wantField(t, err, field)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the value is in the error: %v", err)
			}
		}
	}
	if o, backend, err := ToOptions(nil); err != nil || backend != "" || !cmp.Equal(o, &engine.Options{}, cmpopts.EquateEmpty()) {
		t.Errorf("nil became %+v, %q, %v", o, backend, err)
	}
}

func env(name, value string) []*sandboxv2.EnvVar {
	return []*sandboxv2.EnvVar{{Name: []byte(name), Value: []byte(value)}}
}

func TestToRun_Refuses(t *testing.T) {
	type m = sandboxv2.RunRequest
	for field, bad := range map[string][]*m{
		"script":      {{Script: "a", ScriptRaw: []byte("b")}},
		"Args":        {{Args: []string{""}, ArgsRaw: [][]byte{{}}}},
		"Cwd":         {{Cwd: "a", CwdRaw: []byte("a")}},
		`Env["A"]`:    {{Env: map[string]string{"A": "1"}, EnvRaw: env("A", "1")}},
		"Type":        {{Type: 3}, {Type: -1}},
		"Interpreter": {{Interpreter: 3}, {Interpreter: -1}},
		"Network":     {{Network: 4}},
		"Timeout":     {{Timeout: &durationpb.Duration{Seconds: -1}}, {Timeout: &durationpb.Duration{Nanos: 1 << 30}}},
		"StdinPipe":   {{Stdin: []byte("x"), StdinPipe: true}},
	} {
		for _, m := range bad {
			_, _, err := ToRun(m)
			wantField(t, err, field)
		}
	}
	script, o, err := ToRun(nil)
	if err != nil || script != "" || !cmp.Equal(o, &engine.RunOptions{}, cmpopts.EquateEmpty()) {
		t.Errorf("nil became %q, %+v, %v", script, o, err)
	}
}

// TestOptions_Refuses: what cannot be said on the wire is refused before it is sent.
func TestOptions_Refuses(t *testing.T) {
	type o = engine.Options
	for field, bad := range map[string]*o{
		"WorkDir":      {WorkDir: "/\xff"},
		"Overlay":      {Overlay: "/\xff"},
		"Warm":         {Warm: "\xff"},
		"ReadOnly[1]":  {ReadOnly: []string{"/a", "/\xff"}},
		"ReadWrite[0]": {ReadWrite: []string{"/\xff"}},
		"Network":      {Network: "every"},
		"PythonTier":   {PythonTier: engine.Tier(strings.Repeat("x", 1<<20))},
		"Timeout":      {Timeout: -1},
		"Limits.CPU":   {Limits: engine.Limits{CPU: -1}},
	} {
		_, err := Options(bad, "")
		wantField(t, err, field)
	}
	_, err := Options(nil, "\xff")
	wantField(t, err, "Backend")
	type r = engine.RunOptions
	for field, bad := range map[string]*r{
		"Name":        {Name: "\xff"},
		"Type":        {Type: "perl"},
		"Interpreter": {Interpreter: "old"},
		"Network":     {Network: "every"},
		"Timeout":     {Timeout: -time.Second},
	} {
		_, err := RunRequest("", bad)
		wantField(t, err, field)
	}
	if math.MaxInt > math.MaxInt32 {
		_, err := TerminalSize(engine.TerminalSize{Rows: math.MaxInt, Cols: 1})
		wantField(t, err, "Terminal")
	}
}

func TestToDuration_NoTimeout(t *testing.T) {
	for _, d := range []*durationpb.Duration{
		durationpb.New(engine.NoTimeout),
		{Seconds: 9223372036, Nanos: 854775807},
		{Seconds: 9223372036, Nanos: 999_999_999},
		{Seconds: 9223372037},
		{Seconds: 315_576_000_000},
	} {
		if got, err := ToDuration("Timeout", d); err != nil || got != engine.NoTimeout {
			t.Errorf("%v is %v, %v", d, got, err)
		}
	}
	if got, err := ToDuration("Timeout", &durationpb.Duration{Seconds: 9223372036, Nanos: 854775806}); err != nil || got != engine.NoTimeout-1 {
		t.Errorf("one nanosecond less is %v, %v", got, err)
	}
}

func TestToMode(t *testing.T) {
	for bits := range uint32(0o10000) {
		if mode, err := ToMode(bits); err != nil || Mode(mode) != bits {
			t.Fatalf("%o is %v, %v", bits, mode, err)
		}
	}
	for _, bits := range []uint32{0o10000, 0o100644, math.MaxUint32} {
		_, err := ToMode(bits)
		wantField(t, err, "Mode")
	}
}

// TestReply_Unknown: a newer server may say what this version does not know.
func TestReply_Unknown(t *testing.T) {
	code := int32(3)
	r := ToResult(&sandboxv2.Result{ExitCode: &code, Reason: 99, Tier: 98, WallTime: &durationpb.Duration{Seconds: -1}})
	if r.Reason != "unknown (99)" || r.Tier != "unknown (98)" || r.ExitCode != 3 || r.WallTime != engine.Unknown {
		t.Errorf("%+v", r)
	}
	if m := ToNetworkMode(99); m.Known() {
		t.Errorf("%q is a mode", m)
	}
	if f := ToFileInfo(&sandboxv2.FileInfo{Type: 99, Mode: math.MaxUint32}); f.Mode.IsRegular() || f.Mode.IsDir() {
		t.Errorf("%v", f.Mode)
	}
	lost := ToResult(&sandboxv2.Result{ExitCode: &code, Reason: sandboxv2.Reason_REASON_LOST})
	none := ToResult(nil)
	if lost.ExitCode != engine.Unknown || none.ExitCode != engine.Unknown || none.PeakMemory != engine.Unknown || none.CPUTime != engine.Unknown {
		t.Errorf("%+v, %+v", lost, none)
	}
}

func FuzzToOptions(f *testing.F) {
	m, err := Options(&engine.Options{Env: map[string]string{"\xff": "1", "B": "2"}, Timeout: engine.NoTimeout, Limits: engine.Limits{CPU: 1, Memory: 2}}, "none")
	if err != nil {
		f.Fatal(err)
	}
	seed(f, m)
	seed(f, &sandboxv2.SessionOptions{Network: 77, Timeout: &durationpb.Duration{Seconds: math.MaxInt64, Nanos: -1}, Limits: &sandboxv2.Limits{OpenFiles: math.MaxInt64}})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m sandboxv2.SessionOptions
		if proto.Unmarshal(data, &m) != nil {
			return
		}
		want, backend, err := ToOptions(&m)
		if err != nil {
			if !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		back, err := Options(want, backend)
		if err != nil {
			t.Fatalf("%+v cannot be sent on: %v", want, err)
		}
		got, again, err := ToOptions(sent(t, back))
		if err != nil || again != backend || !cmp.Equal(want, got, cmpopts.EquateEmpty()) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	})
}

func FuzzToRun(f *testing.F) {
	m, err := RunRequest("print(1)\xff", &engine.RunOptions{Args: []string{"a", "\xff"}, Env: map[string]string{"A": "\xff"}, Terminal: &engine.TerminalSize{Rows: 1}})
	if err != nil {
		f.Fatal(err)
	}
	seed(f, m)
	seed(f, &sandboxv2.RunRequest{Args: []string{"a"}, ArgsRaw: [][]byte{{1}}, Type: 77, Terminal: &sandboxv2.TerminalSize{Rows: math.MinInt32}})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m sandboxv2.RunRequest
		if proto.Unmarshal(data, &m) != nil {
			return
		}
		wantScript, want, err := ToRun(&m)
		if err != nil {
			if !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		back, err := RunRequest(wantScript, want)
		if err != nil {
			t.Fatalf("%+v cannot be sent on: %v", want, err)
		}
		script, got, err := ToRun(sent(t, back))
		if err != nil || script != wantScript || !cmp.Equal(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(engine.RunOptions{}, "Stdin")) {
			t.Errorf("%+v became %+v, %v", want, got, err)
		}
	})
}

func seed(f *testing.F, m proto.Message) {
	data, err := proto.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
}
