package metrics

import (
	"strings"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/server"
)

// other is for what is in no set.
const other = "other"

// words is a set of values that a label may have.
type words map[string]struct{}

func wordsOf(list ...string) words {
	w := words{}
	for _, s := range list {
		w[s] = struct{}{}
	}
	return w
}

// of is the word, or other.
func (w words) of(s string) string {
	if _, ok := w[s]; ok {
		return s
	}
	return other
}

const (
	stdout, stderr  = "stdout", "stderr"
	put, got        = "put", "got"
	taken, uploaded = "taken", "uploaded"
)

var (
	tiers   = wordsOf(string(engine.TierWasm), string(engine.TierNative))
	reasons = wordsOf(
		string(engine.ReasonExited), string(engine.ReasonSignaled), string(engine.ReasonTimeout), string(engine.ReasonCancelled),
		string(engine.ReasonMemory), string(engine.ReasonOutput), string(engine.ReasonCPU), string(engine.ReasonDenied),
		string(engine.ReasonLost),
	)
	codes      = codeWords()
	procedures = procedureWords()
)

// closes are the reasons of closed sessions as words of a label.
var closes = map[string]string{
	server.ClosedAsked:    "asked",
	server.ClosedUnused:   "unused",
	server.ClosedLifetime: "lifetime",
	server.ClosedServer:   "server_ended",
}

func closeWord(why string) string {
	if w, ok := closes[why]; ok {
		return w
	}
	return other
}

func codeWords() words {
	w := wordsOf(server.CodeOK)
	for c := connect.CodeCanceled; c <= connect.CodeUnauthenticated; c++ {
		w[c.String()] = struct{}{}
	}
	return w
}

// procedureWords are the calls of the service, and those that a server offers beside it.
func procedureWords() words {
	w := wordsOf(
		"grpc.health.v1.Health/Check", "grpc.health.v1.Health/Watch", "grpc.health.v1.Health/List",
		"grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
		"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
	)
	services := sandboxv2.File_sandbox_v2_sandbox_proto.Services()
	for i := range services.Len() {
		s := services.Get(i)
		for j := range s.Methods().Len() {
			w[string(s.FullName())+"/"+string(s.Methods().Get(j).Name())] = struct{}{}
		}
	}
	return w
}

func procedureWord(procedure string) string { return procedures.of(strings.TrimPrefix(procedure, "/")) }

// codeOf is the word for the code that a caller gets for err.
func codeOf(err error) string {
	if err == nil {
		return server.CodeOK
	}
	return codes.of(wire.Error(err).Code().String())
}
