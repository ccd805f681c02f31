package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// A snapshot's file is snapshotMagic, which has the version of the form, a zstd stream, and the SHA-256 of all that
// comes before it. The stream has a flag that says whether there is an interpreter; its State, in pieces that have their
// length in front, the last one of length 0; and the packed files.
const snapshotMagic = "sandbar snapshot 1\n"

// WriteTo writes the snapshot, for ReadSnapshot: on this machine or on another one with the same version of the
// interpreter. It implements io.WriterTo. What a script had in its variables and files is in it, secrets too.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	done, err := s.use()
	if err != nil {
		return 0, err
	}
	defer done()
	if s.peer != nil {
		return s.peer.WriteTo(w)
	}
	c := &countingWriter{to: w, hash: sha256.New()}
	err = s.write(c)
	if err == nil {
		_, err = c.Write(c.hash.Sum(nil))
	}
	if err != nil {
		return c.n, fmt.Errorf("write snapshot: %w", err)
	}
	return c.n, nil
}

func (s *Snapshot) write(w io.Writer) error {
	if _, err := io.WriteString(w, snapshotMagic); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	return errors.Join(s.writeContent(z), z.Close())
}

func (s *Snapshot) writeContent(w io.Writer) error {
	flag := []byte{0}
	if s.state != nil {
		flag[0] = 1
	}
	if _, err := w.Write(flag); err != nil {
		return err
	}
	if s.state != nil {
		p := &pieceWriter{to: w}
		if _, err := s.state.WriteTo(p); err != nil {
			return err
		}
		if err := p.end(); err != nil {
			return err
		}
	}
	return pack(context.Background(), s.files.root, w)
}

// countingWriter counts and sums what goes through it.
type countingWriter struct {
	to   io.Writer
	hash hash.Hash
	n    int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.hash.Write(p[:n])
	c.n += int64(n)
	return n, err
}

// pieceWriter writes each Write as a piece.
type pieceWriter struct{ to io.Writer }

func (p *pieceWriter) Write(b []byte) (int, error) {
	for left := b; len(left) > 0; {
		piece := left[:min(len(left), 1<<20)]
		left = left[len(piece):]
		if _, err := p.to.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(piece)))); err != nil {
			return 0, err
		}
		if _, err := p.to.Write(piece); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (p *pieceWriter) end() error {
	_, err := p.to.Write(make([]byte, 4))
	return err
}

// pieceReader reads pieces to their end.
type pieceReader struct {
	from io.Reader
	left uint32
	room *int64
	done bool
}

func (p *pieceReader) Read(b []byte) (int, error) {
	if p.done {
		return 0, io.EOF
	}
	if p.left == 0 {
		var n [4]byte
		if _, err := io.ReadFull(p.from, n[:]); err != nil {
			return 0, unexpected(err)
		}
		if p.left = binary.LittleEndian.Uint32(n[:]); p.left == 0 {
			p.done = true
			return 0, io.EOF
		}
		if int64(p.left) > *p.room {
			return 0, &TooLargeError{Path: "interpreter", Size: int64(p.left), Max: *p.room}
		}
		*p.room -= int64(p.left)
	}
	n, err := p.from.Read(b[:min(uint32(min(len(b), 1<<30)), p.left)])
	p.left -= uint32(n)
	if err != nil && n == 0 {
		return 0, unexpected(err)
	}
	return n, nil
}

// ReadSnapshot reads what Snapshot.WriteTo has written, to the end of r. Drivers are those of the sessions that are to be
// opened from it. Limit bounds what it may unpack to, in bytes of memory and files together. Its checksum tells damage;
// who made it, it does not tell: a snapshot of a stranger is a script of a stranger, and holds as little. The caller
// closes the snapshot. Errors: ErrSnapshot for what is no snapshot, damaged, of another version of the form or of the
// interpreter; ErrTooLarge; ErrNotAvailable when it has an interpreter and no driver can read that.
func ReadSnapshot(ctx context.Context, drivers []Driver, r io.Reader, limit int64) (*Snapshot, error) {
	tiers, err := tiersOf(drivers)
	if err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp("", tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	defer spool.Close()
	if err := os.Remove(spool.Name()); err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	s := &Snapshot{}
	body, err := checkSnapshot(spool, r, limit)
	if err == nil {
		err = s.read(ctx, tiers, body, limit)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read snapshot: %w", err), s.Close())
	}
	return s, nil
}

// checkSnapshot copies r to a file, looks at its checksum, and gives what is between magic and checksum.
func checkSnapshot(spool *os.File, r io.Reader, limit int64) (io.Reader, error) {
	// What is compressed is not much larger than what it unpacks to.
	most := limit + limit/64 + 1<<20
	n, err := io.Copy(spool, io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, err
	case n > most:
		return nil, &TooLargeError{Path: "snapshot", Size: n, Max: limit}
	}
	content := n - sha256.Size
	magic := make([]byte, len(snapshotMagic))
	if _, err := spool.ReadAt(magic, 0); err != nil || content < int64(len(magic)) || !bytes.HasPrefix(magic, []byte("sandbar snapshot ")) {
		return nil, fmt.Errorf("%w: it is none", ErrSnapshot)
	}
	if string(magic) != snapshotMagic {
		return nil, fmt.Errorf("%w: its form is %q, this version reads %q", ErrSnapshot, magic, snapshotMagic)
	}
	sum, h := make([]byte, sha256.Size), sha256.New()
	if _, err := spool.ReadAt(sum, content); err != nil {
		return nil, err
	}
	if _, err := io.Copy(h, io.NewSectionReader(spool, 0, content)); err != nil {
		return nil, err
	}
	if !bytes.Equal(h.Sum(nil), sum) {
		return nil, fmt.Errorf("%w: it is damaged", ErrSnapshot)
	}
	return io.NewSectionReader(spool, int64(len(magic)), content-int64(len(magic))), nil
}

// maxWindow bounds the memory that reading takes: a stream says itself how much it needs.
const maxWindow = 64 << 20

func (s *Snapshot) read(ctx context.Context, tiers map[Tier]*tier, body io.Reader, room int64) error {
	z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	defer z.Close()
	var flag [1]byte
	if _, err := io.ReadFull(z, flag[:]); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if flag[0] != 0 {
		if err := s.readState(ctx, tiers[TierWasm], &pieceReader{from: z, room: &room}); err != nil {
			return err
		}
	}
	if s.files, err = openWorkspace(ctx, "", &Limits{}); err != nil {
		return err
	}
	err = unpack(ctx, s.files.root, z, room)
	if err != nil && !errors.Is(err, ErrTooLarge) && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	return err
}

func (s *Snapshot) readState(ctx context.Context, t *tier, from io.Reader) error {
	if t == nil {
		return fmt.Errorf("%w: it has an interpreter, which needs the wasm tier", ErrNotAvailable)
	}
	reader, ok := t.driver.(Snapshotter)
	if !ok {
		return fmt.Errorf("%w: it has an interpreter, which this tier cannot read", ErrNotAvailable)
	}
	var err error
	s.state, err = reader.ReadState(ctx, from)
	return err
}
