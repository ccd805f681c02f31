package wasm

import (
	"encoding/binary"
	"path"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

// Requests to the shim; python/build/shim/sandbar.c lists their fields.

// runRequest asks for one script in a fresh interpreter. With scan, the guest tells first what it imports. Shadow are
// modules of the image in whose place the script has files of its own.
func runRequest(s *engine.RunSpec, scan bool, shadow []string) []byte {
	b := appendField(make([]byte, 0, 512), path.Join(guestfs.ScriptDir, s.Name))
	b = appendField(b, s.Cwd)
	b = appendFlag(b, scan)
	b = appendFields(b, s.Args)
	b = appendFields(b, s.Env)
	return appendFields(b, shadow)
}

// liveRequest asks for one more script in an interpreter that stays. With renew, randomness is drawn anew.
func liveRequest(s *engine.RunSpec, label string, renew bool, shadow []string, source []byte) []byte {
	b := appendField(make([]byte, 0, 512+len(source)), label)
	b = appendField(b, s.Cwd)
	b = appendFlag(b, renew)
	b = appendFields(b, s.Args)
	b = appendFields(b, s.Env)
	b = appendFields(b, shadow)
	return appendSource(b, source)
}

// scanRequest asks what a file imports: the script, or a module.
func scanRequest(name string, source []byte, isMain bool) []byte {
	b := appendField(make([]byte, 0, 64+len(name)+len(source)), name)
	return appendSource(appendFlag(b, isMain), source)
}

// warmRequest asks for a script that is run for what it leaves behind.
func warmRequest(source, cwd string, env, shadow []string) []byte {
	b := appendField(nil, cwd)
	b = appendFields(b, env)
	return appendSource(appendFields(b, shadow), []byte(source))
}

// appendField adds one field of a request, as request.c reads it.
func appendField(b []byte, field string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(field)))
	return append(b, field...)
}

func appendFields(b []byte, fields []string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(fields)))
	for _, f := range fields {
		b = appendField(b, f)
	}
	return b
}

func appendFlag(b []byte, set bool) []byte {
	if set {
		return appendField(b, "1")
	}
	return appendField(b, "")
}

// appendSource adds the last field, which is C text.
func appendSource(b, source []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(source)))
	return append(append(b, source...), 0)
}
