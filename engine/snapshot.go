package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// A Snapshot is a copy of a session: its live interpreter, if it had one, and its work directory. Any number of
// sessions can be opened from it (Options.From). It does not change, and is safe for concurrent use. Who made it closes
// it.
//
// The interpreter is copied as its memory is. What sessions from one snapshot write is their own; what they only read, they
// share. In each of them the clock goes on, and random, tempfile, uuid and SQLite draw anew; a random.Random of
// the script's own goes on as it was, and the hash of a str is the same. /tmp is not copied.
type Snapshot struct {
	state State      // nil: there was no interpreter
	files *workspace // a directory of the snapshot's own
	peer  State      // the whole of it when another process holds it; then there is nothing else

	mu     sync.Mutex
	users  sync.WaitGroup // calls that read it
	closed bool

	once sync.Once // of Close
	err  error
}

// Snapshot copies the session as it is: the live interpreter, when the run that has it has ended, and after that the work
// directory. Runs in other interpreters and processes go on meanwhile: of what they write, some may be in the copy. Nothing of
// the session changes. Errors: ErrBusy when the live interpreter holds open files, which a copy could not have;
// ErrClosed; that of ctx; a *TooLargeError for more than 1,048,576 files.
func (s *Session) Snapshot(ctx context.Context) (*Snapshot, error) {
	if s.peer != nil {
		state, err := peerCall(ctx, s, func(ctx context.Context, p Peer) (State, error) { return p.Snapshot(ctx) })
		if err != nil {
			return nil, err
		}
		return &Snapshot{peer: state}, nil
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	ctx, cancel := s.untilClosing(ctx)
	defer cancel()
	snap := &Snapshot{}
	err := s.copyTo(ctx, snap)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("snapshot: %w", err), snap.Close())
	}
	return snap, nil
}

func (s *Session) copyTo(ctx context.Context, snap *Snapshot) error {
	if err := s.files.present(); err != nil {
		return err
	}
	if s.tiers[TierWasm] != nil && s.opts.PythonTier != TierNative {
		live, err := s.liveSession(ctx)
		if err == nil {
			snap.state, err = live.Snapshot(ctx)
		}
		if err != nil && !errors.Is(err, ErrNotAvailable) { // a tier that is not there has no interpreter
			return err
		}
	}
	return snap.take(ctx, s.files.root)
}

// take copies a directory.
func (s *Snapshot) take(ctx context.Context, from *os.Root) error {
	var err error
	if s.files, err = openWorkspace(ctx, "", &Limits{}); err != nil {
		return err
	}
	_, err = copyTree(ctx, from, s.files.root, "work directory")
	return err
}

// Peer is what the peer of a session gave for the snapshot, or nil for one that this process holds.
func (s *Snapshot) Peer() State { return s.peer }

// PeerSnapshot is a snapshot that another process holds. Its Close closes the State.
func PeerSnapshot(state State) *Snapshot { return &Snapshot{peer: state} }

// interpreter is the copy of the interpreter, or nil.
func (s *Snapshot) interpreter() State {
	if s == nil {
		return nil
	}
	return s.state
}

// Memory is the size of the interpreter's memory in bytes, of which zeros take nothing; 0 when there is no interpreter.
func (s *Snapshot) Memory() int64 {
	if s.peer != nil {
		return s.peer.Size()
	}
	if s.state == nil {
		return 0
	}
	return s.state.Size()
}

// use counts a call that reads the snapshot until done.
func (s *Snapshot) use() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("%w: it is closed", ErrSnapshot)
	}
	s.users.Add(1)
	return s.users.Done, nil
}

// Close releases the copy. Sessions that were opened from it go on. It waits for calls that read it, and may be called
// again.
func (s *Snapshot) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.once.Do(func() {
		s.users.Wait()
		s.err = s.release()
	})
	return s.err
}

func (s *Snapshot) release() error {
	var err error
	if s.peer != nil {
		err = s.peer.Close()
	}
	if s.state != nil {
		err = s.state.Close()
	}
	if s.files != nil {
		err = errors.Join(err, s.files.close())
	}
	if err != nil {
		return fmt.Errorf("close snapshot: %w", err)
	}
	return nil
}

// useFrom refuses options that contradict Options.From, and keeps that from being closed until release.
func (o *Options) useFrom(tiers map[Tier]*tier) (release func(), err error) {
	if o.From == nil {
		return func() {}, nil
	}
	problem := ""
	switch {
	case o.WorkDir != "":
		problem = "cannot be set together with WorkDir"
	case o.Overlay != "":
		problem = "cannot be set together with Overlay"
	case o.Warm != "":
		problem = "cannot be set together with Warm"
	case o.From.peer != nil:
		problem = "is of a server, and sessions are opened from it there; Snapshot.WriteTo brings it here"
	case o.From.state != nil && (o.PythonTier == TierNative || tiers[TierWasm] == nil):
		problem = "has an interpreter, which needs the wasm tier"
	}
	if problem == "" {
		if t := tiers[TierWasm]; t != nil {
			t.deferred = false // it takes what it needs of the snapshot in Open
		}
		if release, err = o.From.use(); err == nil {
			return release, nil
		}
		problem = "is closed"
	}
	return nil, &InvalidError{"From", problem}
}

// fill copies the snapshot's files into the work directory of a session that is being opened.
func (s *Snapshot) fill(ctx context.Context, w *workspace) error {
	var err error
	if w.history.mark, err = copyTree(ctx, s.files.root, w.root, "From"); err != nil {
		return fmt.Errorf("copy snapshot: %w", err)
	}
	return w.countCopy(ctx)
}
