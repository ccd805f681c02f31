package imports

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// program is a script with the files that it imports, as it would be executed.
type program struct {
	cfg    *Config
	finder *finder
	// nodes are the files that were begun.
	nodes map[string]*node
	bytes int64
	steps int
	// err ends the decision: an error of Files, or a *spentError.
	err error
}

// node is a file. While it is being executed its outcome is still empty, as a module in a cycle of imports is.
type node struct{ outcome outcome }

// outcome is what comes of an import, or of a file.
type outcome struct {
	// fail is why the import raises an ImportError. Nil: it does not.
	fail *problem
	// other is the first thing in the modules that does not work here, although they can be imported.
	other *problem
}

// problem is an obstacle before it is known which line of the script leads to it.
type problem struct {
	kind    Kind
	subject string // the module, or the path of a use
	reason  string
	sure    bool
	via     *link
}

// link is a chain of modules that import each other, the first one first.
type link struct {
	name string
	next *link
}

// through is the problem as it is met by an import of a module that leads to it.
func (p *problem) through(name string) *problem {
	if p == nil {
		return nil
	}
	q := *p
	q.via = &link{name: name, next: p.via}
	return &q
}

// unsure is a problem that may not be met.
func (p *problem) unsure() *problem {
	q := *p
	q.sure = false
	return &q
}

// here is the module that an import statement stands in. The script is in no package.
type here struct {
	name      string
	isPackage bool
	own       bool
}

// script executes the script and returns the first obstacle by line.
func (p *program) script(findings []Finding) (*Obstacle, error) {
	var first *Obstacle
	in := &here{name: "__main__", own: true}
	failed := guards{}
	for i := range findings {
		f := &findings[i]
		if f.Maybe && !p.cfg.Auto || failed.skip(f) {
			continue
		}
		o := p.obstacle(f, in, &failed)
		if p.err != nil {
			limit, ok := spent(p.err)
			if !ok {
				return nil, p.err
			}
			o = &Obstacle{Kind: Undecided, Line: f.Line, Import: f.Module, Reason: "not decided: " + limit}
		}
		if o != nil && (o.Sure || p.cfg.Auto) && (first == nil || o.Line < first.Line) {
			first = o
		}
		if p.err != nil {
			break
		}
	}
	return first, nil
}

// obstacle returns what one finding of the script meets.
func (p *program) obstacle(f *Finding, in *here, failed *guards) *Obstacle {
	if f.Statement == UseExpression {
		return report(f, p.use(f))
	}
	got := p.load(f, in)
	if got.fail != nil && f.Guard != 0 {
		failed.add(f.Guard)
		return nil
	}
	bad := got.other
	if bad != nil && (f.Maybe || f.Guard != 0 || bad.kind != Useless || bad.via != nil) {
		bad = bad.unsure()
	}
	// A foreign module is missing on each tier: Python's own error tells.
	if got.fail != nil && got.fail.kind != Foreign && (bad == nil || got.fail.sure) {
		if bad = got.fail; f.Maybe {
			bad = bad.unsure()
		}
	}
	return report(f, bad)
}

// report makes an obstacle of a problem.
func report(f *Finding, p *problem) *Obstacle {
	if p == nil {
		return nil
	}
	o := &Obstacle{Kind: p.kind, Line: f.Line, Import: f.Module, Reason: p.reason, Sure: p.sure}
	first := p.subject
	if p.via != nil {
		first = p.via.name
		for l := p.via; l != nil; l = l.next {
			o.Via = append(o.Via, l.name)
		}
		o.Via = append(o.Via, p.subject)
	}
	if f.Statement == FromStatement && first == f.Module+"."+f.Name {
		o.Import = first
	}
	return o
}

// guards are the try statements of a file whose imports have failed.
type guards struct{ failed map[int]bool }

func (g *guards) add(n int) {
	if g.failed == nil {
		g.failed = map[int]bool{}
	}
	g.failed[n] = true
}

// skip reports whether an import is not come to: it stands in the handler of a try statement whose imports succeeded,
// in the else clause of one that has failed, or after an import that failed.
func (g *guards) skip(f *Finding) bool {
	return f.Fallback != 0 && g.failed[f.Fallback] == f.Else || f.Guard != 0 && g.failed[f.Guard]
}

// use returns the problem of a use.
func (p *program) use(f *Finding) *problem {
	if !f.Called || !p.cfg.Auto {
		return nil
	}
	row := useRow(f.Module)
	if row == nil {
		return nil
	}
	return &problem{kind: Use, subject: f.Module, reason: row.Reason}
}

// execute reads a file, once, and follows its imports.
func (p *program) execute(m *module) outcome {
	if n := p.nodes[m.file]; n != nil {
		return n.outcome
	}
	n := &node{}
	p.nodes[m.file] = n
	findings := p.scan(m)
	if p.err != nil {
		return outcome{}
	}
	in := &here{name: m.name, isPackage: m.folders != nil, own: m.own}
	n.outcome = p.run(findings, in)
	return n.outcome
}

// scan has a file scanned, within the limits.
func (p *program) scan(m *module) []Finding {
	if len(p.nodes) > MaxFiles {
		p.err = &spentError{fmt.Sprintf("it imports more than %d files", MaxFiles)}
		return nil
	}
	e, err := p.cfg.Files.Stat(m.file)
	if err != nil {
		p.err = fmt.Errorf("look at %s: %w", clean(m.file), err)
		return nil
	}
	if p.bytes += e.Size; p.bytes > MaxSource {
		p.err = &spentError{fmt.Sprintf("it imports more than %d MiB of source", MaxSource>>20)}
		return nil
	}
	if e.Type != RegularFile {
		return nil // it is gone
	}
	findings, err := p.cfg.Files.Scan(m.file)
	if err != nil && !errors.Is(err, ErrNotPython) {
		p.err = fmt.Errorf("scan %s: %w", clean(m.file), err)
	}
	return findings
}

// run follows the findings of a module: first what is executed with it, then what may be executed later.
func (p *program) run(findings []Finding, in *here) (out outcome) {
	failed := guards{}
	for i := range findings {
		f := &findings[i]
		if f.Statement == UseExpression || f.Maybe && f.Fallback == 0 || f.Maybe && !p.cfg.Auto || failed.skip(f) {
			continue
		}
		got := p.load(f, in)
		if p.err != nil {
			return outcome{}
		}
		if got.fail != nil && f.Guard != 0 {
			failed.add(f.Guard)
			continue
		}
		out.note(got.other)
		if out.fail = got.fail; out.fail != nil {
			if f.Maybe {
				out.fail = out.fail.unsure()
			}
			return out
		}
	}
	if p.cfg.Auto && out.other == nil && in.own {
		out.other = p.later(findings, in, &failed)
	}
	return out
}

// later returns the first problem of what may be executed after the import. The files of installed packages are not
// asked: most of what a library imports in a function or for another system is never used.
func (p *program) later(findings []Finding, in *here, failed *guards) *problem {
	for i := range findings {
		f := &findings[i]
		if f.Statement == UseExpression {
			if bad := p.use(f); bad != nil {
				return bad
			}
			continue
		}
		if !f.Maybe || f.Fallback != 0 || failed.skip(f) {
			continue
		}
		got := p.load(f, in)
		if p.err != nil {
			return nil
		}
		switch {
		case got.fail != nil && f.Guard != 0:
			failed.add(f.Guard)
		case got.other != nil:
			return got.other.unsure()
		case got.fail != nil && got.fail.kind != Foreign:
			return got.fail.unsure()
		}
	}
	return nil
}

// note keeps the first of other problems.
func (o *outcome) note(other *problem) {
	if o.other == nil && other != nil {
		o.other = other.unsure()
	}
}

// printable reports whether a rune can be shown without effect on what stands around it.
func printable(r rune) bool { return r != utf8.RuneError && unicode.IsPrint(r) }
