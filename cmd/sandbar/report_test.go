package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

func TestReport_Unknown(t *testing.T) {
	res := engine.Result{Reason: engine.ReasonExited, Tier: engine.TierWasm, CPUTime: engine.Unknown, PeakMemory: engine.Unknown, WallTime: 1500 * time.Microsecond}
	var b bytes.Buffer
	if err := newReport(&engine.Output{Stdout: []byte("a"), Result: res}, 0).write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `{"stdout":"a","stderr":"","exit_code":0,"reason":"exited","tier":"wasm","backend":"","route":"",` +
		`"wall_ms":1.5,"cpu_ms":null,"peak_memory_bytes":null,"truncated":false,"advice":""}` + "\n"
	if b.String() != want {
		t.Errorf("report = %s, want %s", b.String(), want)
	}

	b.Reset()
	writeStats(&b, &res, 0)
	const line = "sandbar: reason exited, exit code 0, wall 1.5 ms, cpu unknown, peak memory unknown, tier wasm\n"
	if b.String() != line {
		t.Errorf("stats = %q, want %q", b.String(), line)
	}
}

func TestJSONText(t *testing.T) {
	for _, tt := range []struct{ in, text, exact string }{
		{"", "", ""},
		{"ü\x00\r\n", "ü\x00\r\n", ""},
		{"a\xff", "a\uFFFD", "Yf8="},
		{"\xe2\x82", "\uFFFD", "4oI="},
		{"\uFFFD", "\uFFFD", ""}, // a true one is valid
		{"\xed\xa0\x80", "\uFFFD", "7aCA"},
	} {
		text, exact := jsonText([]byte(tt.in))
		if text != tt.text || exact != tt.exact {
			t.Errorf("jsonText(%q) = %q, %q, want %q, %q", tt.in, text, exact, tt.text, tt.exact)
		}
	}
}
