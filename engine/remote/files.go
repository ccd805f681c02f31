package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// piece is how much of a file is in one message.
const piece = 256 << 10

// maxList is the most entries of a directory that are taken, as of a session in this process.
const maxList = 1 << 20

// Put implements engine.Peer.
func (p *peer) Put(ctx context.Context, path string, r io.Reader, opts engine.PutOptions) error {
	head := &sandboxv2.PutFileHeader{SessionId: p.id, Mode: uint32(opts.Mode.Perm())}
	wire.SetText(&head.Path, &head.PathRaw, path)
	buf := make([]byte, piece)
	n, err := io.ReadFull(r, buf)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // this is all
		_, err := once(ctx, soon(p.client, p.client.rpc.PutBytes), &sandboxv2.PutBytesRequest{
			SessionId: p.id, Path: head.GetPath(), PathRaw: head.GetPathRaw(), Data: buf[:n], Mode: head.GetMode(),
		})
		return gone(err)
	case err != nil:
		return readError(ctx, err)
	}
	ctx, watch := p.client.watch(ctx)
	defer watch.stop() // a stream that is given up is no file
	stream := p.client.rpc.PutFile(ctx)
	err = stream.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Header{Header: head}})
	for err == nil && n > 0 {
		err = stream.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Data{Data: buf[:n]}})
		if err != nil {
			break
		}
		watch.pause() // r may be as slow as it likes
		var readErr error
		n, readErr = readFull(r, buf, func() error { return stream.Send(stillThere) })
		if readErr != nil && !errors.Is(readErr, io.EOF) && !errors.Is(readErr, io.ErrUnexpectedEOF) {
			return readError(ctx, readErr)
		}
		watch.resume()
	}
	_, err = stream.CloseAndReceive() // when the server has ended the call, this has the reason
	return gone(causeOr(ctx, err))
}

// stillThere is a message without content: a server gives up a file that stands still.
var stillThere = &sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Data{}}

// stillEvery is how often the server is told that there is more to come.
const stillEvery = 30 * time.Second

// readFull fills buf as io.ReadFull does, and calls still while r takes its time. When still fails, the server has ended the call,
// which then has the reason; a Read that blocks is left until it returns.
func readFull(r io.Reader, buf []byte, still func() error) (int, error) {
	type read struct {
		n   int
		err error
	}
	done := make(chan read, 1)
	go func() {
		n, err := io.ReadFull(r, buf)
		done <- read{n, err}
	}()
	tick := time.NewTicker(stillEvery)
	defer tick.Stop()
	for {
		select {
		case got := <-done:
			return got.n, got.err
		case <-tick.C:
			if still() != nil {
				return 0, nil
			}
		}
	}
}

// causeOr is the error of a call, or why this side has given it up.
func causeOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return wire.FromError(err)
}

// readError is why the caller's reader could not be read.
func readError(ctx context.Context, err error) error {
	if errors.Is(err, engine.ErrInterrupted) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Get implements engine.Peer.
func (p *peer) Get(ctx context.Context, path string, w io.Writer, most int64, sized func(int64)) error {
	req := &sandboxv2.GetFileRequest{SessionId: p.id, MaxBytes: &most}
	wire.SetText(&req.Path, &req.PathRaw, path)
	ctx, watch := p.client.watch(ctx)
	defer watch.stop()
	stream, err := p.client.rpc.GetFile(ctx, connect.NewRequest(req))
	if err != nil {
		return gone(causeOr(ctx, err))
	}
	defer stream.Close() //nolint:errcheck // what it finds, Receive has told
	for left := most; stream.Receive(); {
		watch.pause() // so may w
		m := stream.Msg()
		if m.SizeBytes != nil {
			sized(m.GetSizeBytes())
		}
		if left -= int64(len(m.GetData())); left < 0 { // the server should have said so
			return &engine.TooLargeError{Path: path, Size: most + 1, Max: most}
		}
		if _, err := w.Write(m.GetData()); err != nil {
			return err
		}
		watch.resume()
	}
	return gone(causeOr(ctx, stream.Err()))
}

// List implements engine.Peer.
func (p *peer) List(ctx context.Context, path string) ([]engine.FileInfo, error) {
	var list []engine.FileInfo
	req := &sandboxv2.ListFilesRequest{SessionId: p.id}
	if path == "" {
		return nil, &engine.InvalidError{Field: "path", Problem: `"" is empty`}
	}
	wire.SetText(&req.Path, &req.PathRaw, path)
	for {
		m, err := again(ctx, soon(p.client, p.client.rpc.ListFiles), req)
		if err != nil {
			return nil, gone(err)
		}
		for _, f := range m.GetFiles() {
			list = append(list, wire.ToFileInfo(f))
		}
		switch endless := len(m.GetFiles()) == 0 && len(m.GetNextPageToken()) > 0; {
		case endless:
			return nil, fmt.Errorf("list %s: the server's answer has no end", path)
		case len(list) > maxList:
			return nil, &engine.TooLargeError{Path: path, Size: int64(len(list)), Max: maxList}
		}
		if req.PageToken = m.GetNextPageToken(); len(req.GetPageToken()) == 0 {
			return list, nil
		}
	}
}

// Stat implements engine.Peer.
func (p *peer) Stat(ctx context.Context, path string) (engine.FileInfo, error) {
	req := &sandboxv2.StatFileRequest{SessionId: p.id}
	wire.SetText(&req.Path, &req.PathRaw, path)
	m, err := again(ctx, soon(p.client, p.client.rpc.StatFile), req)
	if err != nil {
		return engine.FileInfo{}, gone(err)
	}
	return wire.ToFileInfo(m.GetFile()), nil
}

// Remove implements engine.Peer.
func (p *peer) Remove(ctx context.Context, path string, all bool) error {
	req := &sandboxv2.RemoveFileRequest{SessionId: p.id, Recursive: all}
	wire.SetText(&req.Path, &req.PathRaw, path)
	_, err := once(ctx, p.client.rpc.RemoveFile, req)
	return gone(err)
}

// Diff implements engine.Peer.
func (p *peer) Diff(ctx context.Context) ([]engine.Change, error) {
	stream, err := p.client.rpc.DiffFiles(ctx, connect.NewRequest(&sandboxv2.DiffFilesRequest{SessionId: p.id}))
	if err != nil {
		return nil, gone(wire.FromError(err))
	}
	list, err := received(stream, (*sandboxv2.DiffFilesResponse).GetChanges)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Commit implements engine.Peer.
func (p *peer) Commit(ctx context.Context) ([]engine.Change, error) {
	stream, err := p.client.rpc.CommitFiles(ctx, connect.NewRequest(&sandboxv2.CommitFilesRequest{SessionId: p.id}))
	if err != nil {
		return nil, gone(wire.FromError(err))
	}
	return received(stream, (*sandboxv2.CommitFilesResponse).GetChanges)
}

// received gives the changes of a stream, also those before an error.
func received[M any](stream *connect.ServerStreamForClient[M], changes func(*M) []*sandboxv2.Change) ([]engine.Change, error) {
	defer stream.Close() //nolint:errcheck // what it finds, Receive has told
	var list []engine.Change
	for stream.Receive() {
		for _, c := range changes(stream.Msg()) {
			list = append(list, wire.ToChange(c))
		}
	}
	return list, gone(wire.FromError(stream.Err()))
}
