package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/engine"
)

const runLong = `Run a Python script in a fresh interpreter of its own. Its output is passed on as it comes, standard
input is read when the script reads, and the exit code is the script's.

What follows the script's name belongs to the script: sandbar's own flags stand before it. After -c CODE
write -- before arguments that begin with a dash.

A script sees an empty work directory, the standard library, and what --read-only, --read-write and
--workdir give it; nothing of the environment, no network and no other program. The script's own folder is
not visible either: for modules that lie beside it, give the folder with --workdir.

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
A script can end with these codes as well: --json tells the two apart, by "reason". When there is no run to
tell about (2, 125), --json prints nothing on standard output.`

// runFlags are the flags of `sandbar run`, as given.
type runFlags struct {
	code      string
	cwd       string
	workDir   string
	readOnly  []string
	readWrite []string
	env       map[string]string
	opts      engine.Options
	stats     bool
	json      bool
}

func newRunCommand(std stdio) *cobra.Command {
	flags := runFlags{env: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "run [flags] SCRIPT|-|-c CODE [args...]",
		Short: "Run a Python script in a fresh interpreter",
		Long:  runLong,
		Example: `  sandbar run hello.py
  sandbar run -c 'import sys; print(sys.argv)' a b
  sandbar run --timeout 5 --memory 128Mi --read-only /data report.py /data/in.csv
  sandbar run --workdir . --json job.py`,
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
	fs.Var(durationValue{&flags.opts.Timeout, true}, "timeout", `end the run after this time; "none" for no timeout (default 1m)`)
	fs.Var(sizeValue{&flags.opts.Limits.Memory}, "memory", "memory limit, the interpreter included (default 512Mi)")
	fs.Var(durationValue{&flags.opts.Limits.CPU, false}, "cpu", "processor time after which the run ends (default none)")
	fs.Var(envValue{flags.env}, "env", "set a variable of the script's environment; may be given again")
	fs.StringArrayVar(&flags.readOnly, "read-only", nil, "let the script read this file or folder, at the same path; may be given again")
	fs.StringArrayVar(&flags.readWrite, "read-write", nil, "let the script also write it; may be given again")
	fs.StringVar(&flags.workDir, "workdir", "", "use this folder as the work directory, "+engine.WorkDir+" in the script, and keep it (default: a new one, removed afterwards)")
	fs.StringVar(&flags.cwd, "cwd", "", "start in this folder of the work directory")
	fs.BoolVar(&flags.stats, "stats", false, "print what the run took on standard error")
	fs.BoolVar(&flags.json, "json", false, "print one JSON object with the output and the result, instead of the output")
	return cmd
}

// job checks the flags and reads the script. given tells whether a flag was given: what is empty may be
// the value of a variable that is not set, and never means the default.
func (f *runFlags) job(given func(flag string) bool, args []string, std stdio) (*job, error) {
	j := &job{opts: f.opts, stats: f.stats, json: f.json}
	if err := f.paths(given, &j.opts); err != nil {
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
	j.runOpts = engine.RunOptions{Type: engine.Python, Name: src.name, Args: src.args, Cwd: f.cwd}
	if !src.tookStdin {
		j.runOpts.Stdin = std.in
	}
	return j, nil
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
