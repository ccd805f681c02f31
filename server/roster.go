package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
)

// FileOptions are for OpenTokens and OpenCertificates. Nil and the zero value mean the defaults.
type FileOptions struct {
	// Policies are those that the file may name. Nil: one, "default", which is DefaultPolicy.
	Policies *Policies
	// Logger is told when the file was read again, or could not be. Nil: none.
	Logger *slog.Logger
}

func (o *FileOptions) filled() FileOptions {
	var filled FileOptions
	if o != nil {
		filled = *o
	}
	if filled.Policies == nil {
		filled.Policies = OnePolicy(DefaultPolicy())
	}
	return filled
}

// maxName is the length of the longest name of a principal or policy, in bytes.
const maxName = 64

// A member is what a line of a file says of a principal.
type member struct {
	name   string
	admin  bool
	policy string
}

// principal makes the principal of a call, with the policy as it is now. A policy that was taken out of its file since leaves
// its principals nothing: no other one is put in its place.
func (m *member) principal(policies *Policies) (*Principal, error) {
	p, ok := policies.Named(m.policy)
	if !ok {
		return nil, wrongCredentials("the policy of this principal is gone")
	}
	return &Principal{Name: m.name, Admin: m.admin, Policy: p}, nil
}

// A roster collects the lines of a file of principals.
type roster struct {
	policies *Policies
	lines    map[string]rosterLine // by name
}

type rosterLine struct {
	member
	number int
}

// readRoster calls add for each line, with its second field, which is what the principal is known by. Errors have the number of
// the line and nothing of its text, which may be a token that was put there by mistake.
func readRoster(text []byte, policies *Policies, add func(m member, key string) error) error {
	r := roster{policies: policies, lines: map[string]rosterLine{}}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		m, key, err := r.line(string(line), number)
		if err == nil && key != "" {
			err = add(m, key)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

// line parses `NAME KEY [admin] [policy=NAME]`. A line without anything has no key.
func (r *roster) line(text string, number int) (m member, key string, err error) {
	fields, err := splitLine(text)
	switch {
	case err != nil || len(fields) == 0:
		return m, "", err
	case len(fields) < 2:
		return m, "", errors.New("has one field, and a name and a key are needed")
	case !isName(fields[0]):
		return m, "", fmt.Errorf("the name is not 1 to %d letters, digits and any of . _ - @", maxName)
	case fields[1] == "":
		return m, "", errors.New("the key is empty")
	}
	m = member{name: fields[0], policy: defaultPolicy}
	if err := m.flags(fields[2:]); err != nil {
		return m, "", err
	}
	if _, ok := r.policies.Named(m.policy); !ok {
		return m, "", errors.New("there is no policy of this name")
	}
	// Several keys of one principal are how one is replaced by another. That they give different rights is a mistake.
	if before, ok := r.lines[m.name]; ok && before.member != m {
		return m, "", fmt.Errorf("has the name of line %d and not its flags", before.number)
	}
	if _, ok := r.lines[m.name]; !ok {
		r.lines[m.name] = rosterLine{m, number}
	}
	return m, fields[1], nil
}

func (m *member) flags(fields []string) error {
	policySet := false
	for i, f := range fields {
		name, isPolicy := strings.CutPrefix(f, "policy=")
		switch {
		case f == "admin" && !m.admin:
			m.admin = true
		case isPolicy && !policySet && isName(name):
			m.policy, policySet = name, true
		default:
			return fmt.Errorf("field %d is neither admin nor policy=NAME, or is there twice", i+3)
		}
	}
	return nil
}

// splitLine splits a line at spaces, to its end or a field that begins with "#". A field in double quotes, as strconv.Quote
// writes them, may have spaces in it.
func splitLine(text string) ([]string, error) {
	var fields []string
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" || text[0] == '#' {
			return fields, nil
		}
		field, rest := text, ""
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, errors.New("has a quote that does not end")
			}
			rest = text[len(quoted):]
			if rest != "" && !strings.ContainsRune(" \t\r\n", rune(rest[0])) {
				return nil, errors.New("has text right after a quote")
			}
			if field, err = strconv.Unquote(quoted); err != nil {
				return nil, errors.New("has a quote that is not one")
			}
		} else if end := strings.IndexAny(text, " \t\r\n"); end >= 0 {
			field, rest = text[:end], text[end:]
		}
		fields, text = append(fields, field), rest
	}
}

// isName reports whether s can name a principal or a policy.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && isMade(s, "._-@")
}

// isMade reports whether s is made of ASCII letters, digits and others.
func isMade(s, others string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(others, c) >= 0:
		default:
			return false
		}
	}
	return true
}
