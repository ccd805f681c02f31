package wire

import (
	"io"
	"io/fs"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// samples are values that are not zero, and not Unknown, by type.
var samples = []any{
	"some text", true, 7, int64(8), 9 * time.Second, time.Unix(1700000000, 5),
	[]string{"one", "two"},
	map[string]string{"name": "value"},
	map[string]int{"WallTime": 3},
	engine.Shell, engine.TierNative, engine.ReasonTimeout, engine.InterpreterSession, netpolicy.Open, engine.OverlayFS, engine.Changed,
	fs.ModeDir | fs.ModeSticky | 0o750,
	engine.Limits{Memory: 1 << 26, CPU: time.Second},
	&engine.TerminalSize{Rows: 24, Cols: 80},
	map[engine.Tier]int{engine.TierWasm: 4},
	map[engine.Reason]int{engine.ReasonExited: 4},
	map[engine.Tier][]string{engine.TierWasm: {"Tmp", "CPU"}},
	[]engine.DriverInfo{{Tier: engine.TierWasm, Versions: map[string]string{"python": "3"}}},
	slog.New(slog.DiscardHandler), &engine.Snapshot{},
}

// TestCarried sets one field at a time and sends it there and back: a field that is added to a type of package engine is
// carried, or stands here with the reason why not.
func TestCarried(t *testing.T) {
	carried(t, through(t, func(o *engine.Options) (*engine.Options, error) {
		m, err := Options(o, "")
		if err != nil {
			return nil, err
		}
		back, _, err := ToOptions(sent(t, m))
		return back, err
	}),
		"Logger", // is the server's own
		"From")   // is OpenFromRequest.snapshot_id
	carried(t, through(t, func(l *engine.Limits) (*engine.Limits, error) {
		m, err := setLimits(l)
		if err != nil {
			return nil, err
		}
		back, err := toLimits(sent(t, m))
		return &back, err
	}))
	carried(t, through(t, func(o *engine.RunOptions) (*engine.RunOptions, error) {
		m, err := RunRequest("", o)
		if err != nil {
			return nil, err
		}
		_, back, err := ToRun(sent(t, m))
		return back, err
	}),
		"Stdin", "StdinPipe") // are the caller's: bytes in the message, or a stream
	carried(t, through(t, func(r *engine.Result) (*engine.Result, error) {
		back := ToResult(sent(t, Result(r)))
		return &back, nil
	}))
	carried(t, through(t, func(i *engine.Info) (*engine.Info, error) {
		back, _ := ToInfo(sent(t, Info(i, nil)))
		return &back, nil
	}),
		"ID",      // is Session.session_id
		"HostDir") // is nothing that a client can use
	carried(t, through(t, func(u *engine.Usage) (*engine.Usage, error) {
		back := ToUsage(sent(t, Usage(u)))
		return &back, nil
	}))
	carried(t, through(t, func(d *engine.DriverInfo) (*engine.DriverInfo, error) {
		back := ToTierInfo(sent(t, TierInfo(d)))
		return &back, nil
	}))
	carried(t, through(t, func(i *engine.FileInfo) (*engine.FileInfo, error) {
		back := ToFileInfo(sent(t, FileInfo(i)))
		return &back, nil
	}))
	carried(t, through(t, func(c *engine.Change) (*engine.Change, error) {
		back := ToChange(sent(t, Change(c)))
		return &back, nil
	}))
	carried(t, through(t, func(s *engine.TerminalSize) (*engine.TerminalSize, error) {
		m, err := TerminalSize(*s)
		if err != nil {
			return nil, err
		}
		back := ToTerminalSize(sent(t, m))
		return &back, nil
	}))
}

// TestWarnings: they are beside engine.Info.
func TestWarnings(t *testing.T) {
	want := []string{"one", "two"}
	if _, got := ToInfo(sent(t, Info(&engine.Info{}, want))); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// through fits a round trip for carried.
func through[T any](t *testing.T, trip func(*T) (*T, error)) func(reflect.Value) reflect.Value {
	return func(v reflect.Value) reflect.Value {
		if !v.IsValid() {
			return reflect.ValueOf(new(T)).Elem()
		}
		back, err := trip(v.Addr().Interface().(*T))
		if err != nil {
			t.Errorf("%+v: %v", v.Interface(), err)
			return reflect.Value{}
		}
		return reflect.ValueOf(back).Elem()
	}
}

// carried checks each field of a struct. The trip makes an empty one of the zero Value.
func carried(t *testing.T, trip func(reflect.Value) reflect.Value, except ...string) {
	t.Helper()
	typ := trip(reflect.Value{}).Type()
	for _, name := range except {
		if _, ok := typ.FieldByName(name); !ok {
			t.Errorf("%s has no field %s", typ, name)
		}
	}
	for f := range typ.Fields() {
		v := reflect.New(typ).Elem()
		v.FieldByIndex(f.Index).Set(sample(t, f.Type))
		want := v.FieldByIndex(f.Index).Interface()
		back := trip(v)
		if !back.IsValid() {
			continue
		}
		got := back.FieldByIndex(f.Index)
		if slices.Contains(except, f.Name) {
			if !got.IsZero() {
				t.Errorf("%s.%s is an exception, and carried", typ, f.Name)
			}
			continue
		}
		if diff := cmp.Diff(want, got.Interface(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s.%s (-went +came):\n%s", typ, f.Name, diff)
		}
	}
}

func sample(t *testing.T, typ reflect.Type) reflect.Value {
	t.Helper()
	if typ == reflect.TypeFor[io.Reader]() {
		return reflect.ValueOf(io.LimitReader(nil, 0))
	}
	for _, s := range samples {
		if reflect.TypeOf(s) == typ {
			return reflect.ValueOf(s)
		}
	}
	t.Fatalf("there is no sample of %s: add one", typ)
	return reflect.Value{}
}

// failer is a test, of package testing or rapid.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sent is a message as the other side gets it.
func sent[M proto.Message](t failer, m M) M {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatalf("marshal %T: %v", m, err)
	}
	back := m.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(data, back); err != nil {
		t.Fatalf("unmarshal %T: %v", m, err)
	}
	return back.(M)
}

// TestCarried_Messages: the other way, every field of a message is set by something, or is the caller's.
func TestCarried_Messages(t *testing.T) {
	code := func(m proto.Message, err error) proto.Message {
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	all := func(p any) {
		v := reflect.ValueOf(p).Elem()
		for f := range v.Type().Fields() {
			if f.Name != "StdinPipe" {
				v.FieldByIndex(f.Index).Set(sample(t, f.Type))
			}
		}
	}
	var o engine.Options
	var l engine.Limits
	var r engine.RunOptions
	var res engine.Result
	var info engine.Info
	var usage engine.Usage
	var tier engine.DriverInfo
	var file engine.FileInfo
	var change engine.Change
	for _, p := range []any{&o, &l, &r, &res, &info, &usage, &tier, &file, &change} {
		all(p)
	}
	full(t, code(Options(&o, "b")), "env_raw")
	full(t, code(setLimits(&l)))
	full(t, code(RunRequest("s", &r)), "script_raw", "args_raw", "env_raw", "cwd_raw",
		"session_id", "cancel_after", "stream_output", "stdin", "stdin_pipe", "detach", "heartbeat") // the caller's
	full(t, Result(&res))
	full(t, Info(&info, []string{"w"}), "network_allowlist") // the engine has none yet
	full(t, Usage(&usage))
	full(t, TierInfo(&tier))
	full(t, FileInfo(&file), "name_raw")
	full(t, Change(&change), "path_raw", "target_raw")
}

func full(t *testing.T, m proto.Message, except ...string) {
	t.Helper()
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		name := string(f.Name())
		if r.Has(f) == slices.Contains(except, name) {
			t.Errorf("%s.%s: set is %v", r.Descriptor().Name(), name, r.Has(f))
		}
	}
}
