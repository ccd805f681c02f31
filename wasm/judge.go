package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/imports"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

// look decides on a script as far as that can be done before its run, and says whether its findings are still to be
// found. The live interpreter's scripts are looked at in an interpreter of their own.
func (s *session) look(ctx context.Context, p *interpreter, spec *engine.RunSpec) (find bool, err error) {
	if spec.Refuse == engine.RefuseNone || !mayImport(spec.Script) {
		return false, nil
	}
	findings, known := s.driver.findings.get(spec.Script, true)
	if !known && !spec.Live {
		return true, nil
	}
	c := newControl()
	defer context.AfterFunc(ctx, func() { c.stop(0) })()
	defer c.stopAfter(spec.Timeout)()
	if !known {
		if findings, err = s.scan(p, spec.Script, true, c, spec); err != nil {
			findings = nil // the run itself tells what is wrong with the script
		}
	}
	needs := s.decide(p, spec, findings, c)
	switch {
	case ctx.Err() != nil:
		return false, fmt.Errorf("wasm tier: look at the script: %w", context.Cause(ctx))
	case needs != nil:
		return false, needs
	}
	return false, nil
}

// mayImport reports whether the parser could find an import in the script: without the word there is none, in all
// encodings of Python that have ASCII in them. Others are declared in the first two lines.
func mayImport(script []byte) bool {
	if bytes.Contains(script, []byte("import")) {
		return true
	}
	head := script
	for range 2 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		if bytes.Contains(line, []byte("coding")) {
			return true
		}
		head = rest
	}
	return false
}

// judge is told by the guest what a script imports, a view of its memory. What it cannot read is no reason against the
// script: it is the guest's own fault.
func (s *session) judge(p *interpreter, spec *engine.RunSpec, found []byte, c *control) *engine.NeedsNativeError {
	findings, err := imports.Decode(found)
	if err != nil {
		s.driver.opts.Logger.Warn("script not looked at", "run", spec.ID, "err", err)
		return nil
	}
	s.driver.findings.put(spec.Script, true, findings)
	return s.decide(p, spec, findings, c)
}

// scanTime bounds the parsing of one file beside the script.
const scanTime = 10 * time.Second

var errNotParsed = errors.New("wasm: not parsed")

// scan has the guest tell what a file imports; of what is no Python it gives an error. It ends when c is stopped.
func (s *session) scan(p *interpreter, source []byte, isMain bool, c *control, spec *engine.RunSpec) (findings []imports.Finding, err error) {
	if findings, known := s.driver.findings.get(source, isMain); known {
		return findings, nil
	}
	if isClosed(c.kill) {
		return nil, errKilled
	}
	ctx := context.Background()
	in, err := p.pool.take(ctx)
	if err != nil {
		return nil, err
	}
	w := newWorld(in, p.bare, guestfs.RunConfig{}, wasi.Config{}, &stdio{})
	in.memory.SetLimit(uint64(spec.Limits.Memory))
	own := newControl()
	own.delivered, own.with = true, c.kill // an interrupt is for the script alone
	w.use(own, in)
	defer own.stopAfter(scanTime)()
	var malformed error
	w.run.found = func(found []byte) bool {
		findings, malformed = imports.Decode(found)
		return true
	}
	code, err := in.call(w.context(ctx), in.scan, scanRequest("file", source, isMain))
	w.close()
	p.pool.give(ctx, in, err == nil)
	if err == nil {
		err = malformed
	}
	if err == nil && code != 0 {
		err = errNotParsed
	}
	if err != nil {
		return nil, fmt.Errorf("scan: %w", firstLineOf(err))
	}
	s.driver.findings.put(source, isMain, findings)
	return findings, nil
}

// findingsKey is a file's content, and whether it was read as the script.
type findingsKey [sha256.Size + 1]byte

func keyOf(source []byte, isMain bool) (k findingsKey) {
	sum := sha256.Sum256(source)
	copy(k[:], sum[:])
	if isMain {
		k[sha256.Size] = 1
	}
	return k
}
