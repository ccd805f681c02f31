//go:build unix

package main

import (
	"os"
	"testing"
)

// Each line must arrive when it is written, in both directions: a conversation would else stand still.
func TestStreams_Conversation(t *testing.T) {
	c := startCommand(t, "sandbar", "run", "-c", `
import sys
print("ready", flush=True)
for line in sys.stdin:
    print("got", line.strip(), flush=True)
print("bye")
`)
	c.line(t, "ready")
	for _, word := range []string{"one", "two", "three"} {
		c.send(t, word+"\n")
		c.line(t, "got "+word)
	}
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	c.end(t, 0, "bye\n")
}

// A run's end does not wait for input that nobody wants, and a run that waits for input has its timeout.
func TestStreams_OpenStdin(t *testing.T) {
	startCommand(t, "sandbar", "run", "-c", `print("done")`).end(t, 0, "done\n")
	startCommand(t, "sandbar", "run", "--timeout", "0.2", "-c", `input()`).end(t, exitTimeout, "")
}

// What the script does not read is left for the next program.
func TestStreams_StdinIsReadLazily(t *testing.T) {
	c := startCommand(t, "sh", "-c", `sandbar run -c pass; cat`)
	c.send(t, "for cat\n")
	if err := c.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	c.end(t, 0, "for cat\n")
}

func TestStreams_StdinClosedAltogether(t *testing.T) {
	startCommand(t, "sh", "-c", `exec sandbar run -c 'import sys; print(repr(sys.stdin.read()))' <&-`).end(t, 0, "''\n")
}

// Output that cannot be written is never taken for success, also when the run ended before that was seen.
func TestStreams_FullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	for command, name := range map[string]string{
		`exec sandbar run -c "print(1)" >/dev/full`:        "stdout",
		`exec sandbar run --json=/dev/full -c "import io"`: "/dev/full",
	} {
		c := startCommand(t, "sh", "-c", command)
		c.end(t, exitFailed, "")
		if got, want := c.stderr.String(), "sandbar: write "+name+": no space left on device\n"; got != want {
			t.Errorf("%s: stderr %q, want %q", command, got, want)
		}
	}
}

// Who closed the pipe does not want to read a traceback of it.
func TestStreams_ReaderGoneQuietly(t *testing.T) {
	c := startCommand(t, "sh", "-c", `{ sandbar run --timeout none -c "while True: print('yes')"; echo $? >&2; } | head -n 1`)
	c.end(t, 0, "yes\n")
	if got := c.stderr.String(); got != "141\n" {
		t.Errorf("stderr and exit code %q, want %q", got, "141\n")
	}
}
