package spec

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestParseHeader(t *testing.T) {
	for _, h := range []Header{
		{KindHello, 0, 0},
		{KindStart, 3, MaxToInit},
		{KindStarted, 1, 0},
		{KindExited, MaxFDs, MaxToHost},
	} {
		b := AppendHeader([]byte("before"), h)[len("before"):]
		if len(b) != HeaderSize {
			t.Errorf("%+v has %d bytes", h, len(b))
		}
		if got, err := ParseHeader(b, MaxToInit); got != h || err != nil {
			t.Errorf("ParseHeader of %+v = %+v, %v", h, got, err)
		}
		if got, err := ParseHeader(append(b, "payload"...), MaxToInit); got != h || err != nil {
			t.Errorf("with what follows: %+v, %v", got, err)
		}
	}
}

func TestParseHeader_Refuses(t *testing.T) {
	good := AppendHeader(nil, Header{KindExited, 0, 100})
	change := func(i int, v byte) []byte {
		b := bytes.Clone(good)
		b[i] = v
		return b
	}
	for name, b := range map[string][]byte{
		"nothing":            nil,
		"a byte short":       good[:HeaderSize-1],
		"another protocol":   change(0, 'G'),
		"kind 0":             change(1, 0),
		"a kind too many":    change(1, byte(kindEnd)),
		"kind 255":           change(1, 255),
		"too many fds":       change(2, MaxFDs+1),
		"reserved byte":      change(3, 1),
		"a payload too long": AppendHeader(nil, Header{KindExited, 0, MaxToHost + 1}),
		"4 GiB":              AppendHeader(nil, Header{KindExited, 0, 1<<32 - 1}),
	} {
		if h, err := ParseHeader(b, MaxToHost); !errors.Is(err, ErrProtocol) || h != (Header{}) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	if _, err := ParseHeader(good, 100); err != nil {
		t.Errorf("a payload of the limit: %v", err)
	}
	if _, err := ParseHeader(good, 99); !errors.Is(err, ErrProtocol) {
		t.Errorf("a payload above the limit: %v", err)
	}
}

func TestKind_String(t *testing.T) {
	seen := map[string]bool{}
	for k := KindHello; k < kindEnd; k++ {
		name := k.String()
		if name == "" || strings.HasPrefix(name, "kind") || seen[name] {
			t.Errorf("kind %d is named %q", uint8(k), name)
		}
		seen[name] = true
	}
	if len(kindNames) != int(kindEnd) {
		t.Errorf("%d names for %d kinds", len(kindNames)-1, kindEnd-1)
	}
	for _, k := range []Kind{0, kindEnd, 255} {
		if got := k.String(); !strings.HasPrefix(got, "kind ") {
			t.Errorf("an unknown kind is named %q", got)
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add(AppendHeader(nil, Header{KindStart, 3, 1000}))
	f.Add(AppendHeader(nil, Header{KindExited, 0, MaxToHost}))
	f.Add([]byte("HTTP/1.1 400 Bad Request"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ParseHeader(b, MaxToHost)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("ParseHeader = %v", err)
			}
			return
		}
		if h.FDs < 0 || h.FDs > MaxFDs || h.Length < 0 || h.Length > MaxToHost || h.Kind == 0 || h.Kind >= kindEnd {
			t.Errorf("%+v", h)
		}
		if again := AppendHeader(nil, h); !bytes.Equal(again, b[:HeaderSize]) {
			t.Errorf("% x becomes % x", b[:HeaderSize], again)
		}
	})
}
