package imports

import (
	"fmt"
	"strings"
)

// load follows one import statement.
func (p *program) load(f *Finding, in *here) (out outcome) {
	name, ok := absolute(f, in)
	if !ok {
		return outcome{fail: &problem{kind: Foreign, subject: f.Module, reason: "a relative import without a package"}}
	}
	m := p.walk(name, in, &out)
	if f.Statement == FromStatement && f.Name != "*" && m != nil && out.fail == nil {
		p.member(m, f.Name, in, &out)
	}
	if p.err != nil {
		return outcome{}
	}
	return out
}

// absolute resolves the dots before a module.
func absolute(f *Finding, in *here) (string, bool) {
	if f.Level == 0 {
		return f.Module, true
	}
	base := in.name
	up := f.Level
	if in.isPackage {
		up--
	}
	for range up {
		dot := strings.LastIndexByte(base, '.')
		if dot < 0 {
			return "", false
		}
		base = base[:dot]
	}
	if f.Module == "" {
		return base, true
	}
	return base + "." + f.Module, true
}

// walk imports a dotted name part by part and returns the last module; nil when an import fails.
func (p *program) walk(name string, in *here, out *outcome) *module {
	if len(name) > maxPath {
		out.fail = lost(clean(name), nil)
		return nil
	}
	var m *module
	for end := 0; end < len(name); {
		if p.steps++; p.steps > maxSteps {
			p.err = &spentError{fmt.Sprintf("it has more than %d imports", maxSteps)}
			return nil
		}
		if dot := strings.IndexByte(name[end+1:], '.'); dot >= 0 {
			end += 1 + dot
		} else {
			end = len(name)
		}
		next, err := p.finder.find(m, name[:end])
		if err != nil {
			p.err = err
			return nil
		}
		if next.kind == missing {
			out.fail = lost(next.name, m)
			return nil
		}
		m = next
		if p.enter(m, in, out); p.err != nil || out.fail != nil {
			return nil
		}
	}
	return m
}

// member imports a name from a module: a module below it, or something that it has.
func (p *program) member(m *module, name string, in *here, out *outcome) {
	full := m.name + "." + name
	if m.kind == inLibrary {
		if _, there := p.finder.library.names[full]; !there && moduleRows[full] == nil {
			if row := memberRow(m.name, name); row != nil && row.Lacking {
				out.fail = &problem{kind: Use, subject: full, reason: row.Reason}
			}
			return
		}
	} else if m.folders == nil {
		return
	}
	below, err := p.finder.find(m, full)
	if err != nil {
		p.err = err
		return
	}
	if below.kind == missing {
		if m.kind != inSource { // else it is something that the __init__.py binds
			out.fail = lost(full, m)
		}
		return
	}
	p.enter(below, in, out)
}

// enter imports one module.
func (p *program) enter(m *module, in *here, out *outcome) {
	if m.hides {
		out.note(&problem{kind: Hidden, subject: m.name, reason: "this tier has a module of that name loaded, and does not look at " + clean(m.file)})
	}
	switch m.kind {
	case inLibrary:
		if !in.own || out.other != nil {
			return
		}
		if row := uselessRow(m.name); row != nil {
			out.other = &problem{kind: Useless, subject: m.name, reason: row.Reason, sure: true}
		}
	case inSource:
		got := p.execute(m)
		out.note(got.other.through(m.name))
		out.fail = got.fail.through(m.name)
	case inMachine:
		out.fail = &problem{kind: Compiled, subject: m.name, reason: "compiled for the native tier (" + clean(m.file) + ")", sure: true}
	case inBytes:
		out.note(&problem{kind: Undecided, subject: m.name, reason: "not decided: only bytecode is there (" + clean(m.file) + ")"})
	case noPackage:
		out.fail = &problem{kind: Foreign, subject: m.name, reason: top(m.name) + " is not a package"}
	}
}

// lost is the problem of a module that was not found, in the one above it.
func lost(name string, above *module) *problem {
	if above == nil || above.kind == inLibrary {
		if row := moduleRows[name]; row != nil && row.Kind != Useless {
			return &problem{kind: row.Kind, subject: name, reason: row.Reason, sure: row.Kind == Absent}
		}
	}
	return &problem{kind: NotFound, subject: name, reason: "neither in this tier nor in the work directory"}
}
