package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sandbar-dev/sandbar/engine"
)

const runLong = `Run a script in a sandbox. Its output is passed on as it comes, standard input is read when the script
reads, and the exit code is the script's.

A file whose name ends in .sh or .bash is a shell script; everything else is Python, unless --type says
otherwise. Python runs in a fresh interpreter of its own, compiled to WebAssembly. A script that imports what this one
does not have (numpy, ctypes) or needs threads, processes or sockets runs in the host's python3 instead: that is decided
before its first statement runs, --stats tells why, and --tier wasm or native decides otherwise. Shell scripts, and that
python3, run as processes in namespaces of their own: see --backend.

What follows the script's name belongs to the script: sandbar's own flags stand before it. After -c CODE
write -- before arguments that begin with a dash.

With --server the session is one of that sandbox-server: paths are of its machine, and its policy says what may be asked for.

A script sees an empty work directory, what --read-only, --read-write and --workdir give it, and in the native
tier the host's programs, read-only; nothing of the environment, no network (see --network) and no other process.
The script's own folder is not visible either: for files that lie beside it, give the folder with --workdir.

Sizes are bytes, or whole numbers with a unit: Ki, Mi, Gi (1024), K, M, G (1000). Durations are seconds, or
numbers with a unit: 500ms, 2s, 1m30s.

Exit codes of sandbar itself:
    2  the command line cannot be used: unknown flag, bad value, no such script
  124  the timeout passed
  125  sandbar could not run the script, or could not pass its output on
  130  stopped by Ctrl-C; a second Ctrl-C stops it at once
  137  the memory limit was reached
  141  the reader of the output went away
  143  stopped by SIGTERM
A script can end with these codes as well: --json tells the two apart, by "reason".

--json writes one JSON object on one line when the run has ended: "exit_code", "signal", "reason" (exited, signaled,
timeout, cancelled, memory, output, cpu, denied, lost), "tier", "backend", "route", "advice", "wall_ns" and "cpu_ns" in
nanoseconds, "peak_memory_bytes", "stdout_bytes", "stderr_bytes" and "truncated". What was not measured is null. The
output stays where it is: --json alone has the object as the last line on standard error, --json=FILE in that file, and
--json=/dev/fd/3 on an open descriptor. Without a run (2, 125) nothing is written, and FILE is empty.`

// runFlags are the flags of `sandbar run`, as given.
type runFlags struct {
	code      string
	kind      string
	tier      string
	place     placeFlags
	changes   changeFlags
	cwd       string
	workDir   string
	readOnly  []string
	readWrite []string
	env       map[string]string
	opts      engine.Options
	stats     bool
	json      string

	server   *serverFlags
	onServer placeOnServer
	detach   bool
}

func newRunCommand(std stdio, server *serverFlags) *cobra.Command {
	flags := runFlags{env: map[string]string{}, server: server}
	cmd := &cobra.Command{
		Use:   "run [flags] SCRIPT|-|-c CODE [args...]",
		Short: "Run a script in a sandbox",
		Long:  runLong,
		Example: `  sandbar run hello.py
  sandbar run -c 'import sys; print(sys.argv)' a b
  sandbar run --timeout 5 --memory 128Mi --read-only /data report.py /data/in.csv
  sandbar run --workdir . --json=/tmp/result.json job.py
  sandbar run --overlay . --diff --commit format.py
  sandbar run --backend userns build.sh
  sandbar run --type shell -c 'gcc --version'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := flags.job(cmd.Flags().Changed, args, std)
			if err != nil {
				return err
			}
			return job.run(std)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.SetInterspersed(false) // what follows the script is the script's
	fs.StringVarP(&flags.code, "command", "c", "", "run `CODE` instead of a file")
	fs.StringVar(&flags.kind, "type", "", "what the script is: python or shell (default: by the file's name)")
	fs.StringVar(&flags.tier, "tier", "", "where Python runs: auto, wasm or native (default auto: by what the script imports)")
	flags.place.add(fs)
	flags.addLimits(fs, "1m")
	flags.addFiles(fs)
	flags.changes.add(fs)
	fs.BoolVar(&flags.stats, "stats", false, "print what the run took on standard error")
	fs.StringVar(&flags.json, "json", "", "write the result as one JSON object to `FILE`; without =FILE, and for -, on standard error")
	fs.Lookup("json").NoOptDefVal = onStderr
	flags.addServer(fs)
	fs.BoolVar(&flags.detach, "detach", false, "with --server: start the run, print its name for stop and logs, and leave it there with its session")
	return cmd
}

// addLimits adds the flags for what a run may take.
func (f *runFlags) addLimits(fs *pflag.FlagSet, timeout string) {
	fs.Var(durationValue{&f.opts.Timeout, true}, "timeout", fmt.Sprintf(`end the run after this time; "none" for no timeout (default %s)`, timeout))
	fs.Var(sizeValue{&f.opts.Limits.Memory}, "memory", "memory limit, the interpreter included (default 512Mi)")
	fs.Var(durationValue{&f.opts.Limits.CPU, false}, "cpu", "processor time after which the run ends (default none)")
	fs.Var(sizeValue{&f.opts.Limits.Disk}, "disk", "what the files of the work directory may take together (default no limit)")
	fs.IntVar(&f.opts.Limits.Processes, "processes", 0, "how many processes and threads there may be, in the native tier (default 256)")
}

// addServer adds the flags for the session of a server.
func (f *runFlags) addServer(fs *pflag.FlagSet) {
	fs.StringVar(&f.onServer.session, "session", "", "with --server: use this session, which is there, and leave it there")
	fs.BoolVar(&f.onServer.keep, "keep", false, "with --server: leave the session there; it is closed when it is not used for a while")
}

// addFiles adds the flags for what a run sees.
func (f *runFlags) addFiles(fs *pflag.FlagSet) {
	fs.Var(envValue{f.env}, "env", "set a variable of the script's environment; may be given again")
	fs.StringArrayVar(&f.readOnly, "read-only", nil, "let the script read this file or folder, at the same path; may be given again")
	fs.StringArrayVar(&f.readWrite, "read-write", nil, "let the script also write it; may be given again")
	fs.StringVar(&f.workDir, "workdir", "", "use this folder as the work directory, "+engine.WorkDir+" in the script, and keep it (default: a new one, removed afterwards)")
	fs.StringVar(&f.cwd, "cwd", "", "start in this folder of the work directory")
}

// job checks the flags and reads the script. given tells whether a flag was given: what is empty may be
// the value of a variable that is not set, and never means the default.
func (f *runFlags) job(given func(flag string) bool, args []string, std stdio) (*job, error) {
	j := &job{opts: f.opts, stats: f.stats, changes: f.changes}
	if err := f.paths(given, &j.opts); err != nil {
		return nil, err
	}
	if err := f.changes.fill(given, &j.opts); err != nil {
		return nil, err
	}
	j.opts.Env = f.env
	var code *string
	if given("command") {
		code = &f.code
	}
	src, err := readSource(code, args, std.in)
	if err != nil {
		return nil, err
	}
	j.script = src.code
	kind, err := scriptType(given("type"), f.kind, src.name)
	if err != nil {
		return nil, err
	}
	if j.tier, err = scriptTier(kind, given, f.tier); err != nil {
		return nil, err
	}
	if j.backend, err = f.place.fill(given, &j.opts); err != nil {
		return nil, err
	}
	j.runOpts = engine.RunOptions{Type: kind, Name: src.name, Args: src.args, Cwd: f.cwd}
	if err := f.remotely(given, j); err != nil {
		return nil, err
	}
	if !src.tookStdin {
		j.runOpts.Stdin = std.in
	}
	if given("json") { // last: what cannot be used leaves the file as it is
		j.report, err = openReport(f.json, &j.opts, std.err)
	}
	return j, err
}

// remotely says where on which server the run is, when there is one.
func (f *runFlags) remotely(given func(flag string) bool, j *job) error {
	place, err := f.serverPlace(given)
	if err != nil || place == nil {
		return err
	}
	j.server, j.detached = place, f.detach
	place.keep = place.keep || f.detach
	if !given("backend") {
		j.backend = "" // the server's default
	}
	if place.session != "" { // its options are what they are
		place.keep = false
		j.runOpts.Env, j.runOpts.Timeout = f.env, j.opts.Timeout
	}
	return nil
}

// ofSessionFlags are flags for the options of a session, which one that is there has already.
var ofSessionFlags = []string{
	"backend", "network", "venv", "gpu", "tier", "memory", "cpu", "disk", "processes", "read-only", "read-write", "workdir", "overlay",
}

// serverPlace checks the flags about a server. Nil: there is none.
func (f *runFlags) serverPlace(given func(flag string) bool) (*placeOnServer, error) {
	if !f.server.set() {
		for _, flag := range []string{"session", "keep", "detach"} {
			if given(flag) {
				return nil, usageErrorf("--%s is for a session on a server: want --server URL, or the variable %s", flag, envServer)
			}
		}
		return nil, nil
	}
	place := f.onServer
	place.serverFlags = *f.server
	if !given("session") {
		return &place, nil
	}
	if place.session == "" {
		return nil, usageErrorf("--session: empty")
	}
	for _, flag := range ofSessionFlags {
		if given(flag) {
			return nil, usageErrorf("--%s is for a new session, and --session names one that is there", flag)
		}
	}
	return &place, nil
}

// paths fills in the paths of the host, absolute.
func (f *runFlags) paths(given func(flag string) bool, opts *engine.Options) error {
	if given("cwd") && f.cwd == "" {
		return usageErrorf("--cwd: empty path")
	}
	var err error
	if given("workdir") {
		if opts.WorkDir, err = absolute("--workdir", f.workDir); err != nil {
			return err
		}
	}
	if opts.ReadOnly, err = allAbsolute("--read-only", f.readOnly); err != nil {
		return err
	}
	opts.ReadWrite, err = allAbsolute("--read-write", f.readWrite)
	return err
}

// absolute resolves a path against the current directory.
func absolute(flag, path string) (string, error) {
	if path == "" {
		return "", usageErrorf("%s: empty path", flag)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &exitError{code: exitFailed, err: fmt.Errorf("%s %s: %w", flag, path, err)}
	}
	return abs, nil
}

func allAbsolute(flag string, paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		abs, err := absolute(flag, path)
		if err != nil {
			return nil, err
		}
		all = append(all, abs)
	}
	return all, nil
}
