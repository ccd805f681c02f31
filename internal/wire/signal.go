package wire

import (
	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// Clean is s fit for a field of text: what is not UTF-8 is replaced.
func Clean(s string) string { return valid(s) }

var signals = enum[engine.Signal, sandboxv2.Signal]{"a signal", []row[engine.Signal, sandboxv2.Signal]{
	{engine.SignalInterrupt, sandboxv2.Signal_SIGNAL_INTERRUPT},
	{engine.SignalTerminate, sandboxv2.Signal_SIGNAL_TERMINATE},
	{engine.SignalKill, sandboxv2.Signal_SIGNAL_KILL},
}}

// Signal is the number of s; unspecified for a signal that is not known.
func Signal(s engine.Signal) sandboxv2.Signal { return signals.number(s) }

// ToSignal is the signal of a number. One that is not known is an *engine.InvalidError.
func ToSignal(n sandboxv2.Signal) (engine.Signal, error) { return signals.asked("Signal", n) }
