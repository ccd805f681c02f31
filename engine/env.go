package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// baseEnv is what a script finds without any option, PWD aside. Nothing comes from the host's process.
var baseEnv = map[string]string{
	"HOME":    WorkDir,
	"LANG":    "C.UTF-8",
	"LOGNAME": "sandbox",
	"PATH":    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"TMPDIR":  "/tmp",
	"USER":    "sandbox",
}

// The bounds of execve(2): MAX_ARG_STRLEN for one string, its end included, and for all of them a quarter of
// the usual stack limit (2 MiB), the pointer of each counted, less what a tier adds of its own. They hold in every
// tier, so that a script does not depend on where it runs.
const (
	maxString    = 128 << 10
	maxStrings   = 1 << 20
	maxArguments = 2<<20 - 64<<10
	pointerSize  = 8
)

// venvEnv is added when the session has a virtual environment.
var venvEnv = map[string]string{
	"PATH":        VenvDir + "/bin:" + baseEnv["PATH"],
	"VIRTUAL_ENV": VenvDir,
}

// environment merges the variables; the later map wins.
func environment(cwd string, session, run map[string]string, venv bool) []string {
	all := maps.Clone(baseEnv)
	all["PWD"] = cwd
	if venv {
		maps.Copy(all, venvEnv)
	}
	maps.Copy(all, session)
	maps.Copy(all, run)
	env := make([]string, 0, len(all))
	for name, value := range all {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// checkEnv checks variables of the caller. No error holds a value: values are secrets.
func checkEnv(env map[string]string) error {
	for name, value := range env {
		if problem := envProblem(name, value); problem != "" {
			return &InvalidError{fmt.Sprintf("Env[%q]", shorten(name)), problem}
		}
	}
	return nil
}

func envProblem(name, value string) string {
	switch {
	case name == "":
		return "has an empty name"
	case strings.ContainsAny(name, "=\x00"):
		return `has "=" or NUL in its name`
	case strings.ContainsRune(value, 0):
		return "has NUL in its value"
	case len(name)+1+len(value) >= maxString:
		return fmt.Sprintf("has %d bytes, more than the kernel's maximum of %d", len(name)+1+len(value), maxString-1)
	}
	return ""
}

func checkArgs(args []string) error {
	for i, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return &InvalidError{fmt.Sprintf("Args[%d]", i), "contains NUL"}
		}
		if len(arg) >= maxString {
			return &InvalidError{fmt.Sprintf("Args[%d]", i), fmt.Sprintf("has %d bytes, more than the kernel's maximum of %d", len(arg), maxString-1)}
		}
	}
	return nil
}

// checkStrings bounds what a run's arguments and environment are together.
func checkStrings(field string, lists ...[]string) error {
	total, count := 0, 0
	for _, list := range lists {
		count += len(list)
		for _, s := range list {
			total += len(s) + 1
		}
	}
	if total > maxStrings {
		return &InvalidError{field, fmt.Sprintf("arguments and environment have %d bytes together, more than the maximum of %d", total, maxStrings)}
	}
	if total+count*pointerSize > maxArguments {
		return &InvalidError{field, fmt.Sprintf("arguments and environment are %d strings of %d bytes together, more than execve takes", count, total)}
	}
	return nil
}

// shorten keeps what the caller gave from filling an error message.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
