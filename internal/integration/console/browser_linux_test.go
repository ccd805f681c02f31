package console

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/internal/testneed"
)

// patience bounds what a test waits for. It is for a machine that does much else.
const patience = time.Minute

// A browser is a Chromium process. Its methods may be called by several goroutines at once.
type browser struct {
	in io.WriteCloser // the browser's descriptor 3

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	gone    error
	pages   map[string]*page // by session of the protocol
}

// A message is what the browser says: an answer, or an event of a page.
type message struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// start starts a browser with a profile of its own, and ends it with the test.
func start(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	testneed.Feature(t, "chromium", err)
	theirIn, in := pipe(t)
	out, theirOut := pipe(t)
	profile := t.TempDir()
	cmd := exec.Command(program,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-proxy-server", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{in: in, waiting: map[int]chan message{}, pages: map[string]*page{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(out)
	}()
	t.Cleanup(func() {
		_ = b.call("", "Browser.close", nil, nil) // it may be gone
		in.Close()
		timer := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		_ = cmd.Wait()
		timer.Stop()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left writes in the profile
		<-read
		out.Close()
	})
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// read hands on what the browser says, until it ends.
func (b *browser) read(out io.Reader) {
	in := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			b.end(errors.New("the browser has ended"))
			return
		}
		var m message
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			b.end(fmt.Errorf("the browser says %q: %w", text, err))
			return
		}
		b.hand(m)
	}
}

func (b *browser) hand(m message) {
	b.mu.Lock()
	answer, p := b.waiting[m.ID], b.pages[m.SessionID]
	delete(b.waiting, m.ID)
	b.mu.Unlock()
	switch {
	case m.ID != 0 && answer != nil:
		answer <- m
	case m.Method != "" && p != nil:
		p.event(m)
	}
}

func (b *browser) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = err
	for _, answer := range b.waiting {
		close(answer)
	}
	b.waiting = nil
}

// call calls a method of the protocol, of a page or of the browser itself.
func (b *browser) call(session, method string, params map[string]any, result any) error {
	answer, err := b.send(session, method, params)
	if err != nil {
		return err
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return b.gone
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer", method)
	}
}

func (b *browser) send(session, method string, params map[string]any) (<-chan message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone != nil {
		return nil, b.gone
	}
	b.last++
	text, err := json.Marshal(map[string]any{"id": b.last, "method": method, "params": params, "sessionId": session})
	if err != nil {
		return nil, err
	}
	if session == "" {
		text, err = json.Marshal(map[string]any{"id": b.last, "method": method, "params": params})
		if err != nil {
			return nil, err
		}
	}
	answer := make(chan message, 1)
	b.waiting[b.last] = answer
	_, err = b.in.Write(append(text, 0))
	return answer, err
}
