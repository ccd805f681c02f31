package imports

import (
	"errors"
	"fmt"
	"strings"
)

// MaxFindings is how many bytes of findings Decode takes.
const MaxFindings = 1 << 20

// ErrFindings says that bytes are not findings in the form that Decode reads.
var ErrFindings = errors.New("imports: malformed findings")

// Statement says what a finding is.
type Statement uint8

// The statements.
const (
	ImportStatement Statement = iota + 1 // import a.b
	FromStatement                        // from a.b import c
	UseExpression                        // a.b.c
)

// Finding is one thing that the guest found in a source file.
type Finding struct {
	Statement Statement
	// Line is where it stands, from 1.
	Line int
	// Maybe is false for what is executed whenever the file is.
	Maybe bool
	// Called is for uses: the name is called, or is a base class. Otherwise it is only mentioned.
	Called bool
	// Guard is the number of the try statement that survives an ImportError here. Zero: none does.
	Guard int
	// Fallback is the number of the try statement in whose handler this import stands, or with Else in whose else clause.
	// Zero: it is in none.
	Fallback int
	Else     bool
	// Level is the number of dots before the module.
	Level int
	// Module is the dotted name after import or from, empty for "from . import c". For a use it is the whole path.
	Module string
	// Name is what a from statement imports, or "*".
	Name string
}

// Decode reads findings, one a line:
//
//	import LINE FLAGS GUARD FALLBACK LEVEL MODULE
//	from   LINE FLAGS GUARD FALLBACK LEVEL MODULE NAME
//	use    LINE FLAGS PATH
//
// with one space between fields. FLAGS are m (Maybe), e (Else) and c (Called), or "-" for none. The MODULE of "from . import c"
// is ".". Anything else is ErrFindings, and nothing is returned.
func Decode(findings []byte) ([]Finding, error) {
	if len(findings) > MaxFindings {
		return nil, fmt.Errorf("%w: %d bytes", ErrFindings, len(findings))
	}
	text := string(findings) // what is returned are parts of it
	out := make([]Finding, 0, strings.Count(text, "\n"))
	for n := 1; text != ""; n++ {
		line, rest, ended := strings.Cut(text, "\n")
		f, ok := decodeLine(line)
		if !ok || !ended {
			return nil, fmt.Errorf("%w: line %d: %.80q", ErrFindings, n, line)
		}
		out, text = append(out, f), rest
	}
	return out, nil
}

// decodeLine reads one line without its end.
func decodeLine(line string) (f Finding, ok bool) {
	d := decoder{rest: line, ok: true}
	switch d.word() {
	case "import":
		f.Statement = ImportStatement
	case "from":
		f.Statement = FromStatement
	case "use":
		f.Statement = UseExpression
	default:
		return f, false
	}
	f.Line = d.number(1)
	d.flags(&f)
	if f.Statement != UseExpression {
		f.Guard, f.Fallback, f.Level = d.number(0), d.number(0), d.number(0)
	}
	f.Module = d.name()
	if f.Statement == FromStatement {
		f.Name = d.name()
		if f.Module == "." {
			f.Module = ""
			d.ok = d.ok && f.Level > 0
		}
	}
	return f, d.ok && d.last
}

// decoder takes fields off a line. ok turns false at the first one that is not as it must be.
type decoder struct {
	rest     string
	last, ok bool
}

func (d *decoder) word() string {
	if d.last {
		d.ok = false
		return ""
	}
	word, rest, more := strings.Cut(d.rest, " ")
	d.rest, d.last = rest, !more
	if word == "" {
		d.ok = false
	}
	return word
}

// name takes a field of any bytes but control characters.
func (d *decoder) name() string {
	word := d.word()
	for i := range len(word) {
		if word[i] < ' ' || word[i] == 0x7f {
			d.ok = false
		}
	}
	return word
}

// number takes a decimal number of up to nine digits that is least or more.
func (d *decoder) number(least int) int {
	word := d.word()
	n := 0
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			d.ok = false
			return 0
		}
		n = n*10 + int(word[i]-'0')
		if i == 9 {
			d.ok = false
			return 0
		}
	}
	if n < least || len(word) > 1 && word[0] == '0' {
		d.ok = false
	}
	return n
}

func (d *decoder) flags(f *Finding) {
	word := d.word()
	if word == "-" {
		return
	}
	for i := range len(word) {
		switch {
		case word[i] == 'm' && !f.Maybe:
			f.Maybe = true
		case word[i] == 'e' && !f.Else && f.Statement != UseExpression:
			f.Else = true
		case word[i] == 'c' && !f.Called && f.Statement == UseExpression:
			f.Called = true
		default:
			d.ok = false
		}
	}
}
