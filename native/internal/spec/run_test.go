package spec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// starts are runs as a host sends them.
var starts = map[string]*Start{
	"shell": {
		Path: "/usr/bin/bash", Argv: []string{"bash", "/run/sandbar/main.sh", "", "a b"}, Env: []string{"A=1", "B="}, Dir: "/tmp/sandbox-work",
		ScriptName: "main.sh", Script: []byte("echo hello\n"),
	},
	"terminal":   {Path: "/bin/sh", Argv: []string{"sh"}, Env: []string{}, Dir: "/", ScriptName: "x", Script: []byte{}, Rows: 24, Cols: 65535},
	"background": {Path: "/bin/sh", Argv: []string{"sh"}, Env: []string{"X=\xff\n"}, Dir: "/", ScriptName: "\xff", Script: []byte("\x00\xff"), Background: true},
	"empty":      {Argv: []string{}, Env: []string{}, Script: []byte{}},
}

func TestParseStart(t *testing.T) {
	for name, s := range starts {
		b := s.Append([]byte("before"))[len("before"):]
		if got, err := ParseStart(b); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, s)
		}
	}
}

var exits = map[string]*Exited{
	"exit":   {Code: 255, Wall: time.Minute, CPU: time.Hour, Own: time.Second, MaxRSS: 1 << 40},
	"zero":   {},
	"signal": {Signal: 64, Wall: 1<<63 - 1, CPU: 1<<63 - 1, Own: 1<<63 - 1, MaxRSS: 1<<63 - 1},
	"dirt":   {Code: 1, Dirt: strings.Repeat("d", 60_000)},
}

func TestParseExited(t *testing.T) {
	for name, e := range exits {
		if got, err := ParseExited(e.Append(nil)); err != nil || *got != *e {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, e)
		}
	}
}

// What no init of ours says ends the cell.
func TestParseExited_Refuses(t *testing.T) {
	for name, e := range map[string]*Exited{
		"signal 65":        {Signal: 65},
		"signal 255":       {Signal: 255},
		"code and signal":  {Code: 1, Signal: 9},
		"negative time":    {CPU: -1},
		"negative wall":    {Wall: -1},
		"negative own":     {Own: -1},
		"negative memory":  {MaxRSS: -1},
		"the least memory": {MaxRSS: -1 << 63},
	} {
		if got, err := ParseExited(e.Append(nil)); !errors.Is(err, ErrProtocol) || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

var failures = map[string]*Failed{
	"plain": {Step: "file system", Errno: 13, Text: "bind /x: permission denied"},
	"empty": {},
	"bytes": {Step: "\xff\x00", Errno: maxErrno, Text: "\n"},
}

func TestParseFailed(t *testing.T) {
	for name, f := range failures {
		if got, err := ParseFailed(f.Append(nil)); err != nil || *got != *f {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, f)
		}
	}
	for _, errno := range []int{maxErrno + 1, 1 << 31, 1<<32 - 1} {
		if got, err := ParseFailed((&Failed{Errno: errno}).Append(nil)); !errors.Is(err, ErrProtocol) || got != nil {
			t.Errorf("errno %d: %+v, %v", errno, got, err)
		}
	}
}

// parsers are what reads a message, with a good one each.
func parsers() map[string]struct {
	good  []byte
	parse func([]byte) (any, error)
} {
	return map[string]struct {
		good  []byte
		parse func([]byte) (any, error)
	}{
		"Start":  {starts["shell"].Append(nil), func(b []byte) (any, error) { return ParseStart(b) }},
		"Exited": {(&Exited{Code: 3, Dirt: "left"}).Append(nil), func(b []byte) (any, error) { return ParseExited(b) }},
		"Failed": {failures["plain"].Append(nil), func(b []byte) (any, error) { return ParseFailed(b) }},
	}
}

func TestParse_CutOrTooLong(t *testing.T) {
	for name, p := range parsers() {
		if _, err := p.parse(p.good); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := range p.good {
			wantRefused(t, p.parse, p.good[:n])
		}
		wantRefused(t, p.parse, append(bytes.Clone(p.good), 0))
		wantRefused(t, p.parse, append(bytes.Clone(p.good), p.good...))
		wantRefused(t, p.parse, bytes.Repeat([]byte{0xff}, 100))
	}
}

func wantRefused(t *testing.T, parse func([]byte) (any, error), b []byte) {
	t.Helper()
	if got, err := parse(b); !errors.Is(err, ErrProtocol) || !reflect.ValueOf(got).IsNil() {
		t.Errorf("%.40q decodes as %+v, %v", b, got, err)
	}
}

// A count or a length that is not there takes no memory.
func TestParseStart_LargeCounts(t *testing.T) {
	for _, n := range []uint32{1 << 20, 1 << 30, 1 << 31, 1<<32 - 1} {
		b := binary.LittleEndian.AppendUint32(nil, 0) // Path
		b = binary.LittleEndian.AppendUint32(b, n)    // number of Argv
		b = append(b, make([]byte, 1000)...)
		allocated := testing.AllocsPerRun(1, func() {
			if s, err := ParseStart(b); !errors.Is(err, ErrProtocol) || s != nil {
				t.Errorf("%d arguments in %d bytes: %v", n, len(b), err)
			}
		})
		if allocated > 20 {
			t.Errorf("%d arguments in %d bytes: %v allocations", n, len(b), allocated)
		}
	}
	b := starts["empty"].Append(nil)
	flags := len(b) - 4 - 2 - 2 - 1
	for _, v := range []byte{2, 255} {
		b[flags] = v
		if s, err := ParseStart(b); !errors.Is(err, ErrProtocol) || s != nil {
			t.Errorf("flags %d: %+v, %v", v, s, err)
		}
	}
}

// fuzz checks that what decodes is what encodes to the same bytes, and that the rest is refused.
func fuzz[M interface{ Append(b []byte) []byte }](f *testing.F, parse func([]byte) (M, error)) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("%v", err)
			}
			return
		}
		if again := m.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("% x becomes % x", b, again)
		}
	})
}

func FuzzParseStart(f *testing.F) {
	for _, s := range starts {
		f.Add(s.Append(nil))
	}
	fuzz(f, ParseStart)
}

func FuzzParseExited(f *testing.F) {
	for _, e := range exits {
		f.Add(e.Append(nil))
	}
	fuzz(f, ParseExited)
}

func FuzzParseFailed(f *testing.F) {
	for _, m := range failures {
		f.Add(m.Append(nil))
	}
	fuzz(f, ParseFailed)
}
