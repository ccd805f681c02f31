package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sandbar-dev/sandbar/wasm"
)

// The test binary is the command itself when it is called by its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sandbar": main})
}

// TestScripts runs testdata/script: what somebody types, and what they must get.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts more than a hundred processes; what runs concurrently in one is in the other tests")
	}
	cache := preparedCache(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		WorkdirRoot:         grantableDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			key, value := cacheVariable(cache)
			env.Setenv(key, value)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "native" {
				return nativeWorks(t), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    cmdExits,
			"jsonhas":  cmdJSONHas,
			"bigfile":  cmdBigFile,
			"rawfile":  cmdRawFile,
			"samefile": cmdSameFile,
		},
	})
}

// grantableDir returns a new folder that is not in /tmp: what lies there cannot be granted to a script.
func grantableDir(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/var/tmp", "sandbar-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// preparedCache returns a user's cache folder with a compiled interpreter in it, so that the scripts, which
// have a home of their own and run in parallel, do not each compile it. It is the real one, which other
// tests have filled, unless that cannot be used.
func preparedCache(t *testing.T) string {
	t.Helper()
	if dir := userCache(); dir != "" {
		return dir
	}
	dir := filepath.Join(t.TempDir(), "Library", "Caches") // where a Mac has it
	if err := prepareCache(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// userCache returns the user's cache folder, prepared, or "" where it cannot be used.
var userCache = sync.OnceValue(func() string {
	dir, err := os.UserCacheDir()
	if err != nil || prepareCache(dir) != nil {
		return ""
	}
	return dir
})

// prepareCache puts a compiled interpreter into the cache folder dir.
func prepareCache(dir string) error {
	driver := wasm.New(&wasm.Options{CacheDir: filepath.Join(dir, "sandbar"), Idle: -1})
	defer driver.Close()
	if err := driver.Prepare(context.Background()); err != nil {
		return err
	}
	if warnings := driver.Info().Warnings; len(warnings) > 0 {
		return errors.New(warnings[0])
	}
	return nil
}

// cacheVariable is what makes dir the folder of os.UserCacheDir.
func cacheVariable(dir string) (key, value string) {
	switch runtime.GOOS {
	case "windows":
		return "LocalAppData", dir
	case "darwin":
		return "HOME", filepath.Dir(filepath.Dir(dir)) // it is Library/Caches in the home
	}
	return "XDG_CACHE_HOME", dir
}

// exits CODE PROGRAM [ARGS...] is exec with an exact exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// jsonhas FILE KEY VALUE... checks fields of the JSON object that is the last line of FILE, which can be stdout or
// stderr. VALUE is JSON.
func cmdJSONHas(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 1 {
		ts.Fatalf("usage: jsonhas FILE KEY VALUE...")
	}
	text, ended := strings.CutSuffix(ts.ReadFile(args[0]), "\n")
	if !ended {
		ts.Fatalf("no line: %q", text)
	}
	text = text[strings.LastIndexByte(text, '\n')+1:]
	args = args[1:]
	var object map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(text), &object))
	for i := 0; i < len(args); i += 2 {
		got, ok := object[args[i]]
		if !ok {
			got = json.RawMessage("absent")
		}
		if string(got) != args[i+1] {
			ts.Fatalf("%s = %s, want %s", args[i], got, args[i+1])
		}
	}
}

// bigfile FILE BYTES LAST writes a script of comments that ends with the line LAST.
func cmdBigFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: bigfile FILE BYTES LAST")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	const line = "# a comment line that does nothing but fill the script up to its size\n"
	text := strings.Repeat(line, size/len(line)+1) + args[2] + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// rawfile FILE GOSTRING writes bytes that a txtar file cannot hold.
func cmdRawFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rawfile FILE GOSTRING")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// samefile FILE GOSTRING compares bytes; FILE can be stdout.
func cmdSameFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samefile FILE GOSTRING")
	}
	want, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	if got := ts.ReadFile(args[0]); got != want {
		ts.Fatalf("%s is %q, want %q", args[0], got, want)
	}
}
