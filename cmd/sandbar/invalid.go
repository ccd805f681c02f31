package main

import (
	"errors"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// flagNames gives the flag for each option that a flag sets, by the beginning of the field's name.
var flagNames = []struct{ field, flag string }{
	{"Limits.Memory", "--memory"},
	{"Limits.CPU", "--cpu"},
	{"Limits.Disk", "--disk"},
	{"Limits.Processes", "--processes"},
	{"Network", "--network"},
	{"Timeout", "--timeout"},
	{"ReadOnly", "--read-only"},
	{"ReadWrite", "--read-write"},
	{"WorkDir", "--workdir"},
	{"Overlay", "--overlay"},
	{"Cwd", "--cwd"},
	{"Env", "--env"},
	{"Name", "script name"},
	{"Args", "script arguments"},
	{"script", "script"},
	{"Backend", "--backend"},
	{"PythonTier", "--tier"},
	{"Venv", "--venv"},
	{"GPU", "--gpu"},
	{"Token", "--token-file"},
	{"url", "--server"},
}

// engineError gives an error of the engine its exit code. An option that the engine refuses came from the
// command line, so it is named as it was written there.
func engineError(err error) error {
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit
	}
	invalid, ok := errors.AsType[*engine.InvalidError](err)
	if !ok {
		return &exitError{code: exitFailed, err: err}
	}
	for _, name := range flagNames {
		if rest, ok := strings.CutPrefix(invalid.Field, name.field); ok {
			return usageErrorf("%s%s: %s", name.flag, rest, invalid.Problem)
		}
	}
	return &exitError{code: exitUsage, err: invalid}
}

// explain is engineError for a call that a signal may have ended.
func (s *stopper) explain(err error) error {
	if reason := s.reason(); reason != nil {
		return reason
	}
	return engineError(err)
}
