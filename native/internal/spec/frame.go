package spec

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kind is the kind of a message.
type Kind uint8

// The kinds of messages, in the order of the diagram.
const (
	KindHello Kind = iota + 1
	KindSetup
	KindServe
	KindFailed
	KindReady
	KindStart
	KindStarted
	KindNotStarted
	KindSignal
	KindExited
	kindEnd
)

var kindNames = [...]string{"", "Hello", "Setup", "Serve", "Failed", "Ready", "Start", "Started", "NotStarted", "Signal", "Exited"}

// String implements fmt.Stringer.
func (k Kind) String() string {
	if k == 0 || k >= kindEnd {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// HeaderSize is the size of a message's header in bytes.
const HeaderSize = 8

// The largest payloads. What the host sends holds a script; what a cell sends is little.
const (
	MaxToInit = 80 << 20
	MaxToHost = 64 << 10
)

// MaxFDs is the most descriptors that come with a message.
const MaxFDs = 8

// Header is what a message begins with.
type Header struct {
	Kind   Kind
	FDs    int
	Length int
}

// ErrProtocol says that the other side sent what it must not.
var ErrProtocol = errors.New("protocol error")

const magic = 0xce

// AppendHeader appends h to b.
func AppendHeader(b []byte, h Header) []byte {
	b = append(b, magic, byte(h.Kind), byte(h.FDs), 0)
	return binary.LittleEndian.AppendUint32(b, uint32(h.Length))
}

// ParseHeader reads a header of a message whose payload has at most limit bytes.
func ParseHeader(b []byte, limit int) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, fmt.Errorf("%w: header of %d bytes", ErrProtocol, len(b))
	}
	h := Header{Kind: Kind(b[1]), FDs: int(b[2]), Length: int(binary.LittleEndian.Uint32(b[4:]))}
	switch {
	case b[0] != magic || b[3] != 0 || h.Kind == 0 || h.Kind >= kindEnd:
		return Header{}, fmt.Errorf("%w: header % x", ErrProtocol, b[:HeaderSize])
	case h.FDs > MaxFDs:
		return Header{}, fmt.Errorf("%w: %d descriptors", ErrProtocol, h.FDs)
	case h.Length < 0 || h.Length > limit:
		return Header{}, fmt.Errorf("%w: %s of %d bytes", ErrProtocol, h.Kind, h.Length)
	}
	return h, nil
}
