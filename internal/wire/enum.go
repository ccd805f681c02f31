package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// enum is one table of names and numbers. The empty name and 0 belong together in each and are not in it.
type enum[S ~string, N ~int32] struct {
	what string // for errors: "a tier"
	rows []row[S, N]
}

type row[S ~string, N ~int32] struct {
	name   S
	number N
}

// number is that of a name; 0 if it has none.
func (e *enum[S, N]) number(name S) N {
	for _, r := range e.rows {
		if r.name == name {
			return r.number
		}
	}
	return 0
}

// name is that of a number, or a text that says which number was not known.
func (e *enum[S, N]) name(number N) S {
	if number == 0 {
		return ""
	}
	for _, r := range e.rows {
		if r.number == number {
			return r.name
		}
	}
	return S(fmt.Sprintf("unknown (%d)", number))
}

// ask is number for an option: a name without a number is refused.
func (e *enum[S, N]) ask(field string, name S) (N, error) {
	n := e.number(name)
	if n == 0 && name != "" {
		return 0, &engine.InvalidError{Field: field, Problem: fmt.Sprintf("%q is not %s; there are %s", shorten(string(name)), e.what, e.names())}
	}
	return n, nil
}

// asked is name for an option: a number without a name is refused.
func (e *enum[S, N]) asked(field string, number N) (S, error) {
	known := func(r row[S, N]) bool { return r.number == number }
	if number != 0 && !slices.ContainsFunc(e.rows, known) {
		return "", &engine.InvalidError{Field: field, Problem: fmt.Sprintf("%d is not %s; there are %s", number, e.what, e.names())}
	}
	return e.name(number), nil
}

func (e *enum[S, N]) names() string {
	var list []string
	for _, r := range e.rows {
		list = append(list, string(r.name))
	}
	return strings.Join(list, ", ")
}

var scriptTypes = enum[engine.ScriptType, sandboxv2.ScriptType]{"a script type", []row[engine.ScriptType, sandboxv2.ScriptType]{
	{engine.Python, sandboxv2.ScriptType_SCRIPT_TYPE_PYTHON},
	{engine.Shell, sandboxv2.ScriptType_SCRIPT_TYPE_SHELL},
}}

// ScriptType is the number of t; unspecified for a type that is not known.
func ScriptType(t engine.ScriptType) sandboxv2.ScriptType { return scriptTypes.number(t) }

// ToScriptType is the twin of ScriptType. A number that is not known gives a text that says so.
func ToScriptType(n sandboxv2.ScriptType) engine.ScriptType { return scriptTypes.name(n) }

var tiers = enum[engine.Tier, sandboxv2.Tier]{"a tier", []row[engine.Tier, sandboxv2.Tier]{
	{engine.TierAuto, sandboxv2.Tier_TIER_AUTO},
	{engine.TierWasm, sandboxv2.Tier_TIER_WASM},
	{engine.TierNative, sandboxv2.Tier_TIER_NATIVE},
}}

// Tier is the number of t; unspecified for a tier that is not known.
func Tier(t engine.Tier) sandboxv2.Tier { return tiers.number(t) }

// ToTier is the twin of Tier. A number that is not known gives a text that says so.
func ToTier(n sandboxv2.Tier) engine.Tier { return tiers.name(n) }

var networkModes = enum[netpolicy.Mode, sandboxv2.NetworkMode]{"a mode", []row[netpolicy.Mode, sandboxv2.NetworkMode]{
	{netpolicy.Blocked, sandboxv2.NetworkMode_NETWORK_MODE_BLOCKED},
	{netpolicy.Allowlist, sandboxv2.NetworkMode_NETWORK_MODE_ALLOWLIST},
	{netpolicy.Open, sandboxv2.NetworkMode_NETWORK_MODE_OPEN},
}}

// NetworkMode is the number of m; unspecified for a mode that is not known.
func NetworkMode(m netpolicy.Mode) sandboxv2.NetworkMode { return networkModes.number(m) }

// ToNetworkMode is the twin of NetworkMode. A number that is not known gives a text that says so, which is no mode.
func ToNetworkMode(n sandboxv2.NetworkMode) netpolicy.Mode { return networkModes.name(n) }

var interpreters = enum[engine.Interpreter, sandboxv2.Interpreter]{"known", []row[engine.Interpreter, sandboxv2.Interpreter]{
	{engine.InterpreterFresh, sandboxv2.Interpreter_INTERPRETER_FRESH},
	{engine.InterpreterSession, sandboxv2.Interpreter_INTERPRETER_SESSION},
}}

// Interpreter is the number of i; unspecified for one that is not known.
func Interpreter(i engine.Interpreter) sandboxv2.Interpreter { return interpreters.number(i) }

// ToInterpreter is the twin of Interpreter. A number that is not known gives a text that says so.
func ToInterpreter(n sandboxv2.Interpreter) engine.Interpreter { return interpreters.name(n) }

var reasons = enum[engine.Reason, sandboxv2.Reason]{"a reason", []row[engine.Reason, sandboxv2.Reason]{
	{engine.ReasonExited, sandboxv2.Reason_REASON_EXITED},
	{engine.ReasonSignaled, sandboxv2.Reason_REASON_SIGNALED},
	{engine.ReasonTimeout, sandboxv2.Reason_REASON_TIMEOUT},
	{engine.ReasonCancelled, sandboxv2.Reason_REASON_CANCELLED},
	{engine.ReasonMemory, sandboxv2.Reason_REASON_MEMORY},
	{engine.ReasonOutput, sandboxv2.Reason_REASON_OUTPUT},
	{engine.ReasonCPU, sandboxv2.Reason_REASON_CPU},
	{engine.ReasonDenied, sandboxv2.Reason_REASON_DENIED},
	{engine.ReasonLost, sandboxv2.Reason_REASON_LOST},
}}

// Reason is the number of r; unspecified for a reason that is not known.
func Reason(r engine.Reason) sandboxv2.Reason { return reasons.number(r) }

// ToReason is the twin of Reason. A number that is not known gives a text that says so.
func ToReason(n sandboxv2.Reason) engine.Reason { return reasons.name(n) }

var changeKinds = enum[engine.ChangeKind, sandboxv2.ChangeKind]{"a kind of change", []row[engine.ChangeKind, sandboxv2.ChangeKind]{
	{engine.Added, sandboxv2.ChangeKind_CHANGE_KIND_ADDED},
	{engine.Changed, sandboxv2.ChangeKind_CHANGE_KIND_CHANGED},
	{engine.Removed, sandboxv2.ChangeKind_CHANGE_KIND_REMOVED},
}}
