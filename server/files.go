package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sort"
	"sync"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

const (
	// maxUnary is the most bytes of a file in one message.
	maxUnary = 16 << 20
	// filePiece is how much of a file is in one message of a stream.
	filePiece = 256 << 10
	// maxPage is the most entries of a directory in one message.
	maxPage = 10_000
)

// inFile does what file calls have in common: it finds the session, and decodes the path.
func (h *handler) inFile(ctx context.Context, id, path string, raw []byte, f func(se *session, path string) error) error {
	se, done, err := h.session(ctx, id)
	if err != nil {
		return h.fail(ctx, err)
	}
	defer done()
	name, err := wire.Text(path, raw, "path")
	if err == nil {
		err = f(se, name)
	}
	if err != nil {
		return h.fail(ctx, err)
	}
	return nil
}

func putOptions(mode uint32) *engine.PutOptions {
	return &engine.PutOptions{Mode: fs.FileMode(mode)}
}

// checkMode refuses what fs.FileMode would take for something else than permission bits.
func checkMode(mode uint32) error {
	if mode&^0o777 != 0 {
		return &engine.InvalidError{Field: "Mode", Problem: fmt.Sprintf("%#o has more than permission bits", mode)}
	}
	return nil
}

// PutBytes implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) PutBytes(ctx context.Context, req *connect.Request[sandboxv2.PutBytesRequest]) (*connect.Response[sandboxv2.PutBytesResponse], error) {
	m := req.Msg
	err := h.inFile(ctx, m.GetSessionId(), m.GetPath(), m.GetPathRaw(), func(se *session, path string) error {
		if err := checkMode(m.GetMode()); err != nil {
			return err
		}
		if n := len(m.GetData()); n > maxUnary {
			return &engine.TooLargeError{Path: path, Size: int64(n), Max: maxUnary}
		}
		err := se.PutBytes(ctx, path, m.GetData(), putOptions(m.GetMode()))
		if err == nil {
			h.opts.Observer.FileMoved(true, int64(len(m.GetData())))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.PutBytesResponse{}), nil
}

// GetBytes implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) GetBytes(ctx context.Context, req *connect.Request[sandboxv2.GetBytesRequest]) (*connect.Response[sandboxv2.GetBytesResponse], error) {
	m := req.Msg
	out := &sandboxv2.GetBytesResponse{}
	err := h.inFile(ctx, m.GetSessionId(), m.GetPath(), m.GetPathRaw(), func(se *session, path string) error {
		most := int64(maxUnary)
		if m.MaxBytes != nil {
			most = min(most, m.GetMaxBytes())
		}
		var err error
		out.Data, err = se.GetBytes(ctx, path, most)
		h.opts.Observer.FileMoved(false, int64(len(out.GetData())))
		return err
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(out), nil
}

// PutFile implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) PutFile(ctx context.Context, stream *connect.ClientStream[sandboxv2.PutFileRequest]) (*connect.Response[sandboxv2.PutFileResponse], error) {
	if !stream.Receive() {
		return nil, h.fail(ctx, streamError(stream.Err()))
	}
	head := stream.Msg().GetHeader()
	if head == nil {
		return nil, h.fail(ctx, errNoHeader)
	}
	err := h.inFile(ctx, head.GetSessionId(), head.GetPath(), head.GetPathRaw(), func(se *session, path string) error {
		if err := checkMode(head.GetMode()); err != nil {
			return err
		}
		r := &putReader{stream: stream}
		err := se.PutReader(ctx, path, r, putOptions(head.GetMode()))
		r.end(ctx)
		h.opts.Observer.FileMoved(true, r.total)
		return err
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.PutFileResponse{}), nil
}

var errNoHeader = &engine.InvalidError{Field: "header", Problem: "is not in the first message"}

// streamError is why a stream of requests has ended, when it should have gone on.
func streamError(err error) error {
	if err == nil {
		return errNoHeader
	}
	return err
}

// putReader reads the messages of PutFile. The session may leave a Read behind, on another goroutine, when it returns.
type putReader struct {
	stream *connect.ClientStream[sandboxv2.PutFileRequest]

	mu    sync.Mutex // held by Read
	left  []byte
	total int64
	over  bool
}

// end ends a Read that is under way, and waits for it: after the handler has returned, the request's stream is
// somebody else's, or nobody's.
func (r *putReader) end(ctx context.Context) {
	if !r.mu.TryLock() {
		cutBody(ctx)
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	r.over = true
}

func (r *putReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return 0, io.ErrClosedPipe
	}
	for len(r.left) == 0 {
		if !r.stream.Receive() {
			if err := r.stream.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		if r.stream.Msg().GetHeader() != nil {
			return 0, &engine.InvalidError{Field: "header", Problem: "is in a later message than the first"}
		}
		r.left = r.stream.Msg().GetData()
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	r.total += int64(n)
	return n, nil
}

// GetFile implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) GetFile(ctx context.Context, req *connect.Request[sandboxv2.GetFileRequest], stream *connect.ServerStream[sandboxv2.GetFileResponse]) error {
	m := req.Msg
	return h.inFile(ctx, m.GetSessionId(), m.GetPath(), m.GetPathRaw(), func(se *session, path string) error {
		most := int64(math.MaxInt64)
		if m.MaxBytes != nil {
			most = m.GetMaxBytes()
		}
		info, err := se.Stat(ctx, path)
		if err != nil {
			return err
		}
		defer hurry(ctx, se.use.gone)()
		w := &getWriter{stream: stream}
		w.msg.SizeBytes = &info.Size
		err = se.GetWriter(ctx, path, w, most)
		h.opts.Observer.FileMoved(false, w.total)
		if err == nil && w.msg.SizeBytes != nil { // an empty file has had no message
			err = w.send(nil)
		}
		return err
	})
}

// getWriter sends a file. Its first message has the size.
type getWriter struct {
	stream *connect.ServerStream[sandboxv2.GetFileResponse]
	msg    sandboxv2.GetFileResponse
	buf    []byte
	total  int64
}

func (w *getWriter) send(p []byte) error {
	w.msg.Data = p
	err := w.stream.Send(&w.msg)
	w.msg.SizeBytes = nil
	if err == nil {
		w.total += int64(len(p))
	}
	return err
}

// Write implements io.Writer.
func (w *getWriter) Write(p []byte) (int, error) {
	if err := w.send(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadFrom implements io.ReaderFrom: io.Copy's own buffer would make small messages.
func (w *getWriter) ReadFrom(r io.Reader) (int64, error) {
	if w.buf == nil {
		w.buf = make([]byte, filePiece)
	}
	var total int64
	for {
		n, err := io.ReadFull(r, w.buf)
		total += int64(n)
		if n > 0 {
			if err := w.send(w.buf[:n]); err != nil {
				return total, err
			}
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return total, nil
		case err != nil:
			return total, err
		}
	}
}

// ListFiles implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) ListFiles(ctx context.Context, req *connect.Request[sandboxv2.ListFilesRequest]) (*connect.Response[sandboxv2.ListFilesResponse], error) {
	m := req.Msg
	path := m.GetPath()
	if path == "" && len(m.GetPathRaw()) == 0 {
		path = "."
	}
	out := &sandboxv2.ListFilesResponse{}
	err := h.inFile(ctx, m.GetSessionId(), path, m.GetPathRaw(), func(se *session, path string) error {
		size := int(m.GetPageSize())
		if size < 0 {
			return &engine.InvalidError{Field: "page_size", Problem: "is negative"}
		}
		if size == 0 || size > maxPage {
			size = maxPage
		}
		list, err := se.List(ctx, path)
		if err != nil {
			return err
		}
		// The token is the last name: files that come and go meanwhile move no others.
		after := string(m.GetPageToken())
		list = list[sort.Search(len(list), func(i int) bool { return after == "" || list[i].Name > after }):]
		if len(list) > size {
			list = list[:size]
			out.NextPageToken = []byte(list[size-1].Name)
		}
		for i := range list {
			out.Files = append(out.Files, wire.FileInfo(&list[i]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(out), nil
}

// StatFile implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) StatFile(ctx context.Context, req *connect.Request[sandboxv2.StatFileRequest]) (*connect.Response[sandboxv2.StatFileResponse], error) {
	m := req.Msg
	out := &sandboxv2.StatFileResponse{}
	err := h.inFile(ctx, m.GetSessionId(), m.GetPath(), m.GetPathRaw(), func(se *session, path string) error {
		info, err := se.Stat(ctx, path)
		if err == nil {
			out.File = wire.FileInfo(&info)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(out), nil
}

// RemoveFile implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) RemoveFile(ctx context.Context, req *connect.Request[sandboxv2.RemoveFileRequest]) (*connect.Response[sandboxv2.RemoveFileResponse], error) {
	m := req.Msg
	err := h.inFile(ctx, m.GetSessionId(), m.GetPath(), m.GetPathRaw(), func(se *session, path string) error {
		if m.GetRecursive() {
			return se.RemoveAll(ctx, path)
		}
		return se.Remove(ctx, path)
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.RemoveFileResponse{}), nil
}
