package wasm

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/meter"
	"github.com/sandbar-dev/sandbar/wasm/python"
)

// state is a copy of a live interpreter: engine.State.
type state struct {
	base   *base
	closed sync.Once
}

// stateID names what the memory of an interpreter can be used with: the same machine code of the guest.
func stateID() string { return fmt.Sprintf("python %s meter %d\n", python.ID(), meter.Revision) }

// Size implements engine.State.
func (s *state) Size() int64 { return int64(s.base.image.Size()) }

// WriteTo implements io.WriterTo.
func (s *state) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, stateID())
	if err != nil {
		return int64(n), err
	}
	m, err := w.Write(snapshotOf(s.base.image.Bytes(), s.base.stack).encode())
	return int64(n) + int64(m), err
}

// Close implements engine.State.
func (s *state) Close() error {
	var err error
	s.closed.Do(func() { err = s.base.release() })
	return err
}

// ReadState implements engine.Snapshotter.
func (d *Driver) ReadState(ctx context.Context, r io.Reader) (engine.State, error) {
	p, err := d.ready(ctx)
	if err != nil {
		return nil, err
	}
	id := make([]byte, len(stateID()))
	if _, err := io.ReadFull(r, id); err != nil {
		return nil, fmt.Errorf("%w: interpreter: %w", engine.ErrSnapshot, err)
	}
	if string(id) != stateID() {
		return nil, fmt.Errorf("%w: it was taken with another interpreter: %.80q, this one is %q", engine.ErrSnapshot, id, stateID())
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%w: interpreter: %w", engine.ErrSnapshot, err)
	}
	snap, err := decodeSnapshot(b)
	if err != nil {
		return nil, fmt.Errorf("%w: interpreter: %w", engine.ErrSnapshot, err)
	}
	// What generated code may touch without asking is what the module itself began with.
	if least := p.pool.base.image.Size(); snap.size < least {
		return nil, fmt.Errorf("%w: interpreter: memory of %d bytes, less than %d", engine.ErrSnapshot, snap.size, least)
	}
	base, err := newBase(snap)
	if err != nil {
		return nil, fmt.Errorf("%w: interpreter: %w", engine.ErrSnapshot, err)
	}
	return &state{base: base}, nil
}

// checkFrom refuses a state that the session cannot start from.
func checkFrom(spec *engine.SessionSpec) error {
	if spec.From == nil {
		return nil
	}
	s, ok := spec.From.(*state)
	if !ok {
		return &engine.InvalidError{Field: "From", Problem: "is not of this tier"}
	}
	if s.Size() > spec.Limits.Memory {
		return &engine.InvalidError{Field: "Limits.Memory", Problem: fmt.Sprintf("%d bytes is less than the %d of the snapshot's interpreter", spec.Limits.Memory, s.Size())}
	}
	return nil
}
