//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestRun_Signals(t *testing.T) {
	const sleeps = "import time\ntry:\n    time.sleep(1000)\nfinally:\n    print('cleaned up')\n"
	const stubborn = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"
	for _, tt := range []struct {
		name   string
		script string
		signal os.Signal
		code   int
		stdout string
	}{
		{"interrupt", sleeps, os.Interrupt, exitInterrupted, "cleaned up\n"},
		{"terminate", sleeps, syscall.SIGTERM, exitTerminated, "cleaned up\n"},
		{"hangup", sleeps, syscall.SIGHUP, 128 + int(syscall.SIGHUP), "cleaned up\n"},
		{"stubborn", stubborn, os.Interrupt, exitInterrupted, ""},
		{"exit code zero", "import os, time\ntry:\n    time.sleep(1000)\nfinally:\n    os._exit(0)\n", os.Interrupt, exitInterrupted, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := startCommand(t, "sandbar", "run", "-c", "print('begun', flush=True)\n"+tt.script)
			c.line(t, "begun")
			c.signal(t, tt.signal)
			c.end(t, tt.code, tt.stdout)
		})
	}
}

// A stopped run has a report as well.
func TestRun_SignalJSON(t *testing.T) {
	work := t.TempDir()
	result := filepath.Join(t.TempDir(), "result.json")
	c := startCommand(t, "sandbar", "run", "--json="+result, "--workdir", work, "-c", `
print("begun", flush=True)
open("ready", "w").close()
while True: pass
`)
	for {
		if _, err := os.Stat(filepath.Join(work, "ready")); err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.signal(t, os.Interrupt)
	c.end(t, exitInterrupted, "begun\n")
	text, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Reason != "cancelled" || got.ExitCode == nil || *got.ExitCode != 137 || got.StdoutBytes != 6 {
		t.Errorf("report = %s", text)
	}
}

// Nobody waits for a compiler that works for a run which is given up.
func TestRun_SignalWhilePreparing(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "Library", "Caches")
	key, value := cacheVariable(cache)
	c := startCommand(t, "env", key+"="+value, "sandbar", "run", "-c", "print('begun')")
	made := func(file string) bool {
		files, err := filepath.Glob(filepath.Join(cache, "sandbar", "*", file))
		if err != nil {
			t.Fatal(err)
		}
		return len(files) > 0
	}
	for !made("interpreter.wasm") { // it is compiled next
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.signal(t, os.Interrupt)
	c.end(t, exitInterrupted, "")
	if made("image") {
		t.Error("sandbar waited until the interpreter was prepared")
	}
}

// A second Ctrl-C finds a run that is being stopped, and must not break its end.
func TestRun_SignalTwice(t *testing.T) {
	c := startCommand(t, "sandbar", "run", "-c", `
import time
print("begun", flush=True)
while True:
    try: time.sleep(1000)
    except KeyboardInterrupt: print("no", flush=True)
`)
	for _, line := range []string{"begun", "no"} { // the two signals cannot become one
		c.line(t, line)
		c.signal(t, os.Interrupt)
	}
	c.end(t, exitInterrupted, "")
}

// nohup and a shell's background jobs set signals to be ignored, and mean it.
func TestRun_IgnoredSignalsStayIgnored(t *testing.T) {
	c := startCommand(t, "sh", "-c", `trap "" INT HUP; exec sandbar run -c "$1"`, "sh", `
print("begun", flush=True)
input()
print("went on")
`)
	c.line(t, "begun")
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	c.send(t, "\n")
	c.end(t, 0, "went on\n")
}
