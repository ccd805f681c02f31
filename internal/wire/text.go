package wire

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// SetText puts s into one of the two fields of a text: str if it is UTF-8, and else raw.
func SetText(str *string, raw *[]byte, s string) {
	if utf8.ValidString(s) {
		*str = s
		return
	}
	*raw = []byte(s)
}

// Text is what is in the two fields of a text, of which one may be set. The error names field.
func Text(str string, raw []byte, field string) (string, error) {
	if len(raw) == 0 {
		return str, nil
	}
	if str != "" {
		return "", &engine.InvalidError{Field: field, Problem: "is given as text and as bytes"}
	}
	return string(raw), nil
}

// replyText is Text for what a server says: the bytes win.
func replyText(str string, raw []byte) string {
	if len(raw) > 0 {
		return string(raw)
	}
	return str
}

// valid is s fit for a field of text: a message with another one cannot be sent at all.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func validAll(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, valid(s))
	}
	return out
}

func validMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[valid(name)] = valid(value)
	}
	return out
}

// onlyText refuses a text that is not UTF-8 for a field that has no twin for bytes.
func onlyText(field, s string) error {
	if !utf8.ValidString(s) {
		return &engine.InvalidError{Field: field, Problem: "is not UTF-8"}
	}
	return nil
}

// setArgs puts all arguments into one of two fields, so that their order is kept.
func setArgs(text *[]string, raw *[][]byte, args []string) {
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			*text = nil
			for _, arg := range args {
				*raw = append(*raw, []byte(arg))
			}
			return
		}
		*text = append(*text, arg)
	}
}

func argsOf(text []string, raw [][]byte) ([]string, error) {
	if len(raw) == 0 {
		return text, nil
	}
	if len(text) > 0 {
		return nil, &engine.InvalidError{Field: "Args", Problem: "is given as text and as bytes"}
	}
	args := make([]string, len(raw))
	for i, arg := range raw {
		args[i] = string(arg)
	}
	return args, nil
}

// setEnv puts each variable into the field that can hold it.
func setEnv(text *map[string]string, raw *[]*sandboxv2.EnvVar, env map[string]string) {
	for name, value := range env {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			*raw = append(*raw, &sandboxv2.EnvVar{Name: []byte(name), Value: []byte(value)})
			continue
		}
		if *text == nil {
			*text = make(map[string]string, len(env))
		}
		(*text)[name] = value
	}
}

// envOf joins both fields. No error holds a value: values are secrets.
func envOf(text map[string]string, raw []*sandboxv2.EnvVar) (map[string]string, error) {
	if len(text)+len(raw) == 0 {
		return nil, nil
	}
	env := make(map[string]string, len(text)+len(raw))
	maps.Copy(env, text)
	for _, v := range raw {
		name := string(v.GetName())
		if _, twice := env[name]; twice {
			return nil, &engine.InvalidError{Field: fmt.Sprintf("Env[%q]", shorten(name)), Problem: "is given twice"}
		}
		env[name] = string(v.GetValue())
	}
	return env, nil
}

// shorten keeps what a caller gave from filling an error message.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
