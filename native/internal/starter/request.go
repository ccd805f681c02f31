package starter

import (
	"encoding/binary"
	"encoding/json"
	"time"
)

// Limit is a resource limit of setrlimit(2), soft and hard. Where the hard limit is lower already, that one
// stays.
type Limit struct {
	Resource int
	Value    uint64
}

// request is what to execute. The strings are bytes: what is no UTF-8 has to arrive as it is.
type request struct {
	Path   []byte
	Argv   [][]byte
	Env    [][]byte
	Limits []Limit
}

func (c *Command) request() ([]byte, error) {
	return json.Marshal(request{Path: []byte(c.Path), Argv: toBytes(c.Argv), Env: toBytes(c.Env), Limits: c.Limits})
}

// ready is the message before execve: a byte of its own, and the processor time so far in nanoseconds.
func ready(spent time.Duration) []byte {
	return binary.LittleEndian.AppendUint64([]byte{set}, uint64(spent))
}

// cutReady takes a ready off the beginning of an answer; ok says that there was one.
func cutReady(answer []byte) (spent time.Duration, rest []byte, ok bool) {
	if len(answer) < readySize || answer[0] != set {
		return 0, answer, false
	}
	return time.Duration(binary.LittleEndian.Uint64(answer[1:])), answer[readySize:], true
}

const (
	set       = '+' // JSON does not begin so
	readySize = 9
)

func toBytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func toStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
