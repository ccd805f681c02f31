package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

func TestReport(t *testing.T) {
	for name, tt := range map[string]struct {
		res         engine.Result
		json, stats string
	}{
		"all is known": {
			engine.Result{
				ExitCode: 137, Signal: 9, Reason: engine.ReasonSignaled, Tier: engine.TierNative, Backend: "userns",
				Route: "line 3: import \x1b[1mnumpy", Advice: "<&>", WallTime: 1500 * time.Microsecond, CPUTime: time.Second,
				PeakMemory: 64 << 20, StdoutBytes: 10, StderrBytes: 2048, Truncated: true,
			},
			`{"exit_code":137,"signal":9,"reason":"signaled","tier":"native","backend":"userns","route":"line 3: import \u001b[1mnumpy",` +
				`"advice":"<&>","wall_ns":1500000,"cpu_ns":1000000000,"peak_memory_bytes":67108864,"stdout_bytes":10,"stderr_bytes":2048,"truncated":true}`,
			"reason signaled, exit code 137, wall 1.5 ms, cpu 1000.0 ms, peak memory 64.0 MiB, stdout 10 bytes, stderr 2.0 KiB, " +
				"tier native, backend userns, route: line 3: import ?[1mnumpy",
		},
		"nothing was measured": {
			engine.Result{Reason: engine.ReasonExited, Tier: engine.TierWasm, CPUTime: engine.Unknown, PeakMemory: engine.Unknown},
			`{"exit_code":0,"signal":0,"reason":"exited","tier":"wasm","backend":"","route":"",` +
				`"advice":"","wall_ns":0,"cpu_ns":null,"peak_memory_bytes":null,"stdout_bytes":0,"stderr_bytes":0,"truncated":false}`,
			"reason exited, exit code 0, wall 0.0 ms, cpu unknown, peak memory unknown, stdout 0 bytes, stderr 0 bytes, tier wasm, route: ",
		},
		"lost": {
			engine.Result{ExitCode: engine.Unknown, Reason: engine.ReasonLost, WallTime: engine.Unknown, CPUTime: 1, PeakMemory: 1},
			`{"exit_code":null,"signal":0,"reason":"lost","tier":"","backend":"","route":"",` +
				`"advice":"","wall_ns":null,"cpu_ns":1,"peak_memory_bytes":1,"stdout_bytes":0,"stderr_bytes":0,"truncated":false}`,
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := newReport(&tt.res).write(&b); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.json+"\n" {
				t.Errorf("report = %s, want %s", b.String(), tt.json)
			}
			if tt.stats == "" {
				return
			}
			b.Reset()
			writeStats(&b, &tt.res, tt.res.ExitCode)
			if want := "sandbar: " + tt.stats + "\n"; b.String() != want {
				t.Errorf("stats = %q, want %q", b.String(), want)
			}
		})
	}
}

// A file that a script could replace by a link is not opened, whatever way leads to it.
func TestLeadsThrough(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	for _, d := range []string{"work/sub", "work2", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"alias": "work", "work/out": "../other", "link.json": "work/r.json", "far.json": "../" + filepath.Base(dir) + "/link.json",
		"into": "work/out", "round": "round", "fine.json": "other/r.json",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]bool{
		"r.json": false, "other/r.json": false, "work2/r.json": false, "fine.json": false, "missing/r.json": false,
		"work":        false, // the folder itself is not in it, and is no file
		"work/r.json": true, "work/sub/r.json": true, "work/missing/r.json": true,
		"alias/r.json": true, "alias/sub/r.json": true,
		"work/out/r.json": true, "alias/out/r.json": true, "into/r.json": true,
		"link.json": true, "far.json": true, "round": true,
	} {
		if got := leadsThrough(filepath.Join(dir, path), []string{"", work}); got != want {
			t.Errorf("leadsThrough(%s) = %v", path, got)
		}
	}
	if !leadsThrough(filepath.Join(work, "r.json"), []string{filepath.Join(dir, "alias")}) {
		t.Error("a work directory that is given by a link")
	}
}
