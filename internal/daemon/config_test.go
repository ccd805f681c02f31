package daemon

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// keysOf are the keys of Config.
func keysOf() []string {
	var all []string
	for f := range reflect.TypeFor[Config]().Fields() {
		if key := f.Tag.Get("key"); key != "" {
			all = append(all, key)
		}
	}
	return all
}

func newTestSource(t *testing.T, args ...string) *source {
	t.Helper()
	cmd := &cobra.Command{Use: "test"}
	s := newSource(cmd, &Program{Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: io.Discard})
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfig_EveryKeyIsAFlag(t *testing.T) {
	var flags []string
	newTestSource(t).flags.VisitAll(func(f *pflag.Flag) {
		if !notKeys[f.Name] {
			flags = append(flags, f.Name)
		}
	})
	if diff := cmp.Diff(slices.Sorted(slices.Values(keysOf())), slices.Sorted(slices.Values(flags))); diff != "" {
		t.Errorf("keys of Config and flags differ (-keys +flags):\n%s", diff)
	}
}

func TestConfig_Example(t *testing.T) {
	const path = "../../deploy/server.yaml"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := mapping(text)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := 0; i < len(entries); i += 2 {
		keys = append(keys, entries[i].Value)
	}
	if diff := cmp.Diff(keysOf(), keys); diff != "" {
		t.Errorf("keys of Config and of %s differ (-Config +example):\n%s", path, diff)
	}
	if _, err := newTestSource(t, "--config", path).load(); err != nil {
		t.Error(err)
	}
}

func TestConfig_TheCommandLineWins(t *testing.T) {
	file := write(t, "listen: [unix:/a, unix:/b]\nbackend: userns\nmax-runs: 7\nidle-timeout: 5m\nmax-lifetime: none\nlog-format: json\n")
	got, err := newTestSource(t, "--config", file, "--listen", "unix:/c", "--max-runs=8", "--state-dir", "/s").load()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"unix:/c"}; !slices.Equal(got.Listen, want) {
		t.Errorf("Listen = %v, want %v", got.Listen, want)
	}
	if want := []string{"userns"}; !slices.Equal(got.Backend, want) {
		t.Errorf("Backend = %v, want %v", got.Backend, want)
	}
	if got.MaxRuns != 8 || got.IdleTimeout != 5*time.Minute || got.MaxLifetime != noEnd || got.LogFormat != logJSON || got.DrainTimeout != 30*time.Second {
		t.Errorf("got %+v", got)
	}
}

func TestConfig_Wrong(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		args []string
		want string
	}{
		"unknown key":       {file: "backend: userns\nlisten-on: x\n", want: "FILE: line 2: listen-on: there is no such key"},
		"not for files":     {file: "config: x\n", want: "FILE: line 1: config: there is no such key"},
		"twice":             {file: "# one\nmax-runs: 1\nmax-runs: 2\n", want: "FILE: line 3: max-runs: is there already"},
		"no value":          {file: "tokens:\n", want: "FILE: line 1: tokens: has no value in line 1"},
		"list":              {file: "max-runs: [1, 2]\n", want: "FILE: line 1: max-runs: is a list, and one value is needed"},
		"mapping":           {file: "listen: {a: b}\n", want: "FILE: line 1: listen: is neither a value nor a list of values"},
		"not a number":      {file: "\nmax-runs: many\n", want: `FILE: line 2: max-runs: "many" invalid syntax`},
		"not a time":        {file: "idle-timeout: 30\n", want: `FILE: line 1: idle-timeout: "30" is not a time`},
		"less":              {file: "max-sessions: 0\n", want: "FILE: line 1: max-sessions: 0 is less than 1"},
		"not YAML":          {file: "a: [\n", want: "read configuration FILE: yaml: line"},
		"two documents":     {file: "max-runs: 1\n---\nmax-runs: 2\n", want: "has more than one document"},
		"a list of lines":   {file: "- a\n", want: "line 1: is not a list of keys"},
		"backend":           {file: "backend: [userns, jail]\n", want: `FILE: line 1: backend: "jail" is not a backend`},
		"flag":              {args: []string{"--backend=jail"}, want: `--backend: "jail" is not a backend`},
		"flag over file":    {file: "max-runs: 1\n", args: []string{"--max-runs=0"}, want: "--max-runs: 0 is less than 1"},
		"address":           {args: []string{"--listen=8700"}, want: `--listen: "8700": is neither host:port nor unix:/path`},
		"relative socket":   {args: []string{"--listen=unix:s"}, want: "the path of a unix socket is absolute"},
		"key without cert":  {args: []string{"--tls-key=k"}, want: "--tls-key: needs tls-cert as well"},
		"names without CA":  {args: []string{"--certificates=c"}, want: "--certificates: needs client-ca as well"},
		"CA without TLS":    {args: []string{"--client-ca=a", "--certificates=c"}, want: "--client-ca: needs tls-cert as well"},
		"host with a port":  {args: []string{"--allow-host=a:1"}, want: "--allow-host: is not a name or an IP address without a port"},
		"any origin":        {args: []string{"--allow-origin=*"}, want: "--allow-origin: is not an origin"},
		"level":             {args: []string{"--log-level=loud"}, want: `--log-level: "loud" is none of`},
		"format":            {args: []string{"--log-format=xml"}, want: "--log-format"},
		"admin on systemd":  {args: []string{"--admin-listen=systemd"}, want: "--admin-listen"},
		"no such file":      {args: []string{"--config=/none/at/all"}, want: "read configuration: open /none/at/all"},
		"no state":          {args: []string{"--state-dir="}, want: "--state-dir: is empty"},
		"same address":      {args: []string{"--listen=unix:/a", "--listen=unix:/a"}, want: "is there twice"},
		"an empty list":     {file: "listen: []\n", want: "FILE: line 1: listen: is empty"},
		"an empty backends": {file: "backend: []\n", want: "FILE: line 1: backend: is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			args, want := c.args, c.want
			if c.file != "" {
				path := write(t, c.file)
				args, want = append(args, "--config="+path), strings.ReplaceAll(want, "FILE", path)
			}
			_, err := newTestSource(t, args...).load()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if ExitCode(err) != exitUsage {
				t.Errorf("exit code %d, want %d", ExitCode(err), exitUsage)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("unknown flag"), exitUsage},
		{failed(errors.New("no")), exitFailed},
		{failed(&ExitError{143, errors.New("signal")}), 143},
		{failed(nil), 0},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("ExitCode(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestDefaultStateDir(t *testing.T) {
	env := map[string]string{"XDG_STATE_HOME": "/x/state", "HOME": "/home/u"}
	getenv := func(key string) string { return env[key] }
	if got := defaultStateDir(getenv); got != "/x/state/sandbar" {
		t.Errorf("with XDG_STATE_HOME: %q", got)
	}
	delete(env, "XDG_STATE_HOME")
	want := "/home/u/.local/state/sandbar"
	if isRoot() {
		want = "/var/lib/sandbar"
	}
	if got := defaultStateDir(getenv); got != want {
		t.Errorf("without: %q, want %q", got, want)
	}
}
