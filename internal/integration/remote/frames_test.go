package remote

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// The frames of HTTP/2 that a test needs to know: RFC 9113, 6.
const (
	frameData     = 0
	frameHeaders  = 1
	frameSettings = 4
	framePing     = 6

	frameAck        = 1 // of settings and pings
	frameEnd        = 1 // of data and headers: the end of the stream
	frameHeadersEnd = 4

	clientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// A framer is a client of HTTP/2 at the level of frames, on a connection.
type framer struct{ conn net.Conn }

// A frame is one that has come.
type frame struct {
	kind, flags byte
	stream      uint32
	data        []byte
}

// frames begins HTTP/2 on a connection.
func frames(t *testing.T, conn net.Conn) *framer {
	t.Helper()
	f := &framer{conn}
	if _, err := io.WriteString(conn, clientPreface); err != nil {
		t.Fatal(err)
	}
	f.send(t, frame{kind: frameSettings})
	return f
}

// bytes is the frame as it is sent.
func (f frame) bytes() []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(f.data))<<8|uint32(f.kind))
	out = append(out, f.flags)
	out = binary.BigEndian.AppendUint32(out, f.stream)
	return append(out, f.data...)
}

func (f *framer) send(t *testing.T, fr frame) {
	t.Helper()
	if _, err := f.conn.Write(fr.bytes()); err != nil {
		t.Fatal(err)
	}
}

// request sends a whole request.
func (f *framer) request(t *testing.T, stream uint32, method, kind string, body []byte) {
	t.Helper()
	f.send(t, frame{frameHeaders, frameHeadersEnd, stream, headerBlock(method, kind)})
	f.send(t, frame{frameData, frameEnd, stream, body})
}

// headerBlock is the encoded head of a request.
func headerBlock(method, kind string) []byte {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":authority", "127.0.0.1"}, {":path", pathTo(method)}, {"content-type", kind},
	} {
		_ = enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}) // a buffer takes everything
	}
	return block.Bytes()
}

// next reads a frame, and answers settings and pings, as a client that is alive does.
func (f *framer) next() (*frame, error) {
	var h [9]byte
	if _, err := io.ReadFull(f.conn, h[:]); err != nil {
		return nil, err
	}
	fr := &frame{kind: h[3], flags: h[4], stream: binary.BigEndian.Uint32(h[5:])}
	fr.data = make([]byte, binary.BigEndian.Uint32(h[:4])>>8)
	if _, err := io.ReadFull(f.conn, fr.data); err != nil {
		return nil, err
	}
	var err error
	switch {
	case fr.flags&frameAck != 0:
	case fr.kind == frameSettings:
		_, err = f.conn.Write(frame{kind: frameSettings, flags: frameAck}.bytes())
	case fr.kind == framePing:
		_, err = f.conn.Write(frame{kind: framePing, flags: frameAck, data: fr.data}.bytes())
	}
	return fr, err
}
