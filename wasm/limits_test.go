package wasm

import (
	"fmt"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

func withMemory(bytes int64) func(*engine.RunSpec) {
	return func(spec *engine.RunSpec) { spec.Limits.Memory = bytes }
}

func withCPU(d time.Duration) func(*engine.RunSpec) {
	return func(spec *engine.RunSpec) { spec.Limits.CPU = d }
}

// The memory limit gives MemoryError; a script that does not catch it has ended for want of memory.
func TestLimits_Memory(t *testing.T) {
	s := openSession(t, shared(t))
	tests := []struct {
		name, script string
		limit        int64
		code         int
		reason       engine.Reason
		stdout       string
	}{
		{"many pieces", "L = []\nwhile True: L.append(bytearray(1 << 20))", 128 << 20, 137, engine.ReasonMemory, ""},
		{"one piece", "bytearray(200 << 20)", 128 << 20, 137, engine.ReasonMemory, ""},
		{"one piece that fits", "bytearray(60 << 20); print('ok')", 128 << 20, 0, engine.ReasonExited, "ok\n"},
		{"one list", "[0] * 10**8", 128 << 20, 137, engine.ReasonMemory, ""},
		{"one str", "'x' * (300 << 20)", 256 << 20, 137, engine.ReasonMemory, ""},
		{"small objects", "L = []\nwhile True: L.append([])", MinMemory, 137, engine.ReasonMemory, ""},
		{"dict", "d = {i: i for i in range(10**8)}", MinMemory, 137, engine.ReasonMemory, ""},
		{"big int", "1 << (8 << 30)", MinMemory, 137, engine.ReasonMemory, ""},
		{"caught", "try:\n    bytearray(200 << 20)\nexcept MemoryError: print('caught')", 128 << 20, 0, engine.ReasonExited, "caught\n"},
		{"caught again and again", "n = 0\nfor _ in range(5):\n    L = []\n    try:\n        while True: L.append(bytearray(1 << 22))\n    except MemoryError: n += 1\nprint(n)", 128 << 20, 0, engine.ReasonExited, "5\n"},
		{"caught, other exit code", "import sys\ntry: bytearray(200 << 20)\nexcept MemoryError: sys.exit(4)", 128 << 20, 4, engine.ReasonExited, ""},
		{"caught, other exception", "try: bytearray(200 << 20)\nexcept MemoryError: pass\nraise ValueError", 128 << 20, 1, engine.ReasonExited, ""},
		{"raised by the script", "raise MemoryError", 128 << 20, 1, engine.ReasonExited, ""},
		{"more than there are addresses", "try: bytearray(3 << 30)\nexcept (MemoryError, OverflowError): print('caught')", 128 << 20, 0, engine.ReasonExited, "caught\n"},
		{"largest limit", "b = bytearray(600 << 20); print(len(b))", maxMemory, 0, engine.ReasonExited, "629145600\n"},
		{"thrown away before", "for _ in range(200): b = bytearray(10 << 20)\nprint('ok')", 128 << 20, 0, engine.ReasonExited, "ok\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exit, stdout, stderr := runScript(t, s, tt.script, withMemory(tt.limit))
			if exit.Code != tt.code || exit.Reason != tt.reason || exit.Err != nil || stdout != tt.stdout {
				t.Errorf("%+v, stdout %q, want code %d, reason %s, stdout %q; stderr %q", exit, stdout, tt.code, tt.reason, tt.stdout, stderr)
			}
			if exit.PeakMemory > tt.limit {
				t.Errorf("peak of %d bytes, the limit is %d", exit.PeakMemory, tt.limit)
			}
		})
	}
	mustPrint(t, s, "print(1)")
}

func TestLimits_PeakMemory(t *testing.T) {
	d := shared(t)
	s := openSession(t, d)
	small, _, _ := runScript(t, s, "pass")
	if want := int64(d.interpreter.pool.base.image.Size()); small.PeakMemory != want {
		t.Errorf("peak of a small script: %d, the image has %d", small.PeakMemory, want)
	}
	large, _, _ := runScript(t, s, "b = bytearray(100 << 20); del b")
	if large.PeakMemory < 100<<20 || large.PeakMemory > 200<<20 {
		t.Errorf("peak of a script that takes 100 MiB: %d", large.PeakMemory)
	}
}

func TestLimits_CPU(t *testing.T) {
	if threadCPU() < 0 {
		t.Skip("a thread's processor time is not known here")
	}
	s := openSession(t, shared(t))
	tests := []struct {
		name, script string
		reason       engine.Reason
		code         int
	}{
		{"loop", "while True: pass", engine.ReasonCPU, codeCPU},
		{"C code", "sum(range(10**12))", engine.ReasonCPU, codeCPU},
		{"exception handlers", "while True:\n    try:\n        while True: pass\n    except BaseException: pass", engine.ReasonCPU, codeCPU},
		{"sleep takes none", "import time; time.sleep(0.2)", engine.ReasonExited, 0},
		{"little work", "pass", engine.ReasonExited, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exit, _, stderr := runScript(t, s, tt.script, withCPU(100*time.Millisecond))
			if exit.Reason != tt.reason || exit.Code != tt.code || exit.Err != nil {
				t.Errorf("%+v, want reason %s, code %d; stderr %q", exit, tt.reason, tt.code, stderr)
			}
			if exit.Reason == engine.ReasonCPU && exit.CPUTime < 100*time.Millisecond {
				t.Errorf("ended after %v of processor time", exit.CPUTime)
			}
		})
	}
}

// process_time is the time since the run began, as docs/python-tier.md says: it begins near zero, and busy
// code does not wait for it for ever.
func TestLimits_ProcessTime(t *testing.T) {
	s := openSession(t, shared(t))
	exit, stdout, stderr := runScript(t, s, `
import time
a = time.process_time()
while time.process_time() < a + 0.05: pass
print(a, time.process_time())`)
	var begin, end float64
	if _, err := fmt.Sscan(stdout, &begin, &end); err != nil {
		t.Fatalf("%v: stdout %q, stderr %q", err, stdout, stderr)
	}
	if begin < 0 || end < begin+0.05 || end > exit.WallTime.Seconds() {
		t.Errorf("process_time() went from %f to %f, the run took %v", begin, end, exit.WallTime)
	}
}

// A run does not have the figures or the limits of the one before it in its instance.
func TestLimits_AreTheRunsOwn(t *testing.T) {
	s := oneInstance(t)
	runScript(t, s, "x = bytearray(30 << 20)", withMemory(MinMemory), withCPU(time.Minute))
	exit, stdout, stderr := runScript(t, s, "b = bytearray(100 << 20); print('ok')", withMemory(200<<20))
	if exit.Code != 0 || stdout != "ok\n" {
		t.Errorf("%+v, stdout %q, stderr %q", exit, stdout, stderr)
	}
	exit, _, _ = runScript(t, s, "raise MemoryError", withMemory(MinMemory))
	if exit.Reason != engine.ReasonExited {
		t.Errorf("a MemoryError of the script's own: reason %s", exit.Reason)
	}
}

func TestLimits_OpenFiles(t *testing.T) {
	s := openSession(t, shared(t))
	got := mustPrint(t, s, `
files = []
try:
    while True: files.append(open("/tmp/f%d" % len(files), "w"))
except OSError as e: print(len(files), e.strerror)
files.clear()
open("/tmp/again", "w").close()`, func(spec *engine.RunSpec) { spec.Limits.OpenFiles = 20 })
	if got != "16 Too many open files\n" && got != "16 No file descriptors available\n" {
		t.Errorf("printed %q", got)
	}
}

func TestLimits_Tmp(t *testing.T) {
	s := openSession(t, shared(t))
	got := mustPrint(t, s, `
import os, errno
def fails(f):
    try: f()
    except OSError as e: return errno.errorcode[e.errno]
def fill():
    with open("/tmp/big", "wb", buffering=0) as f:
        for _ in range(100): f.write(bytes(1 << 20))
def many():
    for i in range(10000): open("/tmp/%d" % i, "w").close()
print(fails(fill)); os.remove("/tmp/big"); print(fails(many))`, func(spec *engine.RunSpec) { spec.Limits.Tmp, spec.Limits.TmpFiles = 10<<20, 100 })
	if got != "ENOSPC\nENOSPC\n" {
		t.Errorf("printed %q", got)
	}
}
