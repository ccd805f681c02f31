package starter

import "encoding/json"

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
