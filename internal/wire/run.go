package wire

import (
	"bytes"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// RunRequest makes the message of a run with the options o, nil for the defaults. The caller adds the session, and what
// becomes of the streams: stdin, stdin_pipe, stream_output, detach, heartbeat, cancel_after. A name that is not UTF-8,
// names of enums that are not known and a negative timeout are an *engine.InvalidError.
func RunRequest(script string, o *engine.RunOptions) (*sandboxv2.RunRequest, error) {
	if o == nil {
		o = &engine.RunOptions{}
	}
	if err := onlyText("Name", o.Name); err != nil {
		return nil, err
	}
	m := &sandboxv2.RunRequest{Name: o.Name, MaxOutputBytes: o.MaxOutput, Background: o.Background}
	SetText(&m.Script, &m.ScriptRaw, script)
	SetText(&m.Cwd, &m.CwdRaw, o.Cwd)
	setArgs(&m.Args, &m.ArgsRaw, o.Args)
	setEnv(&m.Env, &m.EnvRaw, o.Env)
	var err error
	if m.Type, err = scriptTypes.ask("Type", o.Type); err != nil {
		return nil, err
	}
	if m.Interpreter, err = interpreters.ask("Interpreter", o.Interpreter); err != nil {
		return nil, err
	}
	if m.Network, err = networkModes.ask("Network", o.Network); err != nil {
		return nil, err
	}
	if m.Timeout, err = setDuration("Timeout", o.Timeout); err != nil {
		return nil, err
	}
	if o.Terminal != nil {
		if m.Terminal, err = TerminalSize(*o.Terminal); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// ToRun is the twin of RunRequest. Of the streams it gives a reader of the bytes that are in the message, if there are any;
// what else the message says of them is for the caller, who sets StdinPipe.
func ToRun(m *sandboxv2.RunRequest) (script string, o *engine.RunOptions, err error) {
	o = &engine.RunOptions{Name: m.GetName(), MaxOutput: m.GetMaxOutputBytes(), Background: m.GetBackground()}
	if stdin := m.GetStdin(); len(stdin) > 0 {
		if m.GetStdinPipe() {
			return "", nil, &engine.InvalidError{Field: "StdinPipe", Problem: "cannot be set together with Stdin"}
		}
		o.Stdin = bytes.NewReader(stdin)
	}
	if script, err = Text(m.GetScript(), m.GetScriptRaw(), "script"); err != nil {
		return "", nil, err
	}
	if err := toRunTexts(m, o); err != nil {
		return "", nil, err
	}
	if err := toRunChoices(m, o); err != nil {
		return "", nil, err
	}
	return script, o, nil
}

func toRunTexts(m *sandboxv2.RunRequest, o *engine.RunOptions) (err error) {
	if o.Cwd, err = Text(m.GetCwd(), m.GetCwdRaw(), "Cwd"); err != nil {
		return err
	}
	if o.Args, err = argsOf(m.GetArgs(), m.GetArgsRaw()); err != nil {
		return err
	}
	o.Env, err = envOf(m.GetEnv(), m.GetEnvRaw())
	return err
}

func toRunChoices(m *sandboxv2.RunRequest, o *engine.RunOptions) (err error) {
	if o.Type, err = scriptTypes.asked("Type", m.GetType()); err != nil {
		return err
	}
	if o.Interpreter, err = interpreters.asked("Interpreter", m.GetInterpreter()); err != nil {
		return err
	}
	if o.Network, err = networkModes.asked("Network", m.GetNetwork()); err != nil {
		return err
	}
	if m.GetTerminal() != nil {
		size := ToTerminalSize(m.GetTerminal())
		o.Terminal = &size
	}
	o.Timeout, err = ToDuration("Timeout", m.GetTimeout())
	return err
}

// TerminalSize makes the message of s. A size that no message can have is an *engine.InvalidError.
func TerminalSize(s engine.TerminalSize) (*sandboxv2.TerminalSize, error) {
	rows, err := setInt32("Terminal", s.Rows)
	if err != nil {
		return nil, err
	}
	cols, err := setInt32("Terminal", s.Cols)
	if err != nil {
		return nil, err
	}
	return &sandboxv2.TerminalSize{Rows: rows, Cols: cols}, nil
}

// ToTerminalSize is the twin of TerminalSize. The engine refuses sizes that no terminal has.
func ToTerminalSize(m *sandboxv2.TerminalSize) engine.TerminalSize {
	return engine.TerminalSize{Rows: int(m.GetRows()), Cols: int(m.GetCols())}
}
