package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/server"
)

// console opens the page of a new server, with a session.
func console(t *testing.T, expected ...string) (*testServer, *page) {
	t.Helper()
	b := start(t)
	s := serve(t, nil, &server.HandlerOptions{Console: true})
	p := b.open(t, s.url+"/console/", expected...)
	p.shows("#no-sessions", "None")
	p.set("#label", "first")
	p.click("#open")
	p.shows("#sessions", "first")
	p.until(`!document.querySelector("#work").hidden`)
	return s, p
}

// run runs a script to its end.
func (p *page) run(language, script string) {
	p.t.Helper()
	p.begin(language, script)
	p.ended()
}

func (p *page) begin(language, script string) {
	p.t.Helper()
	p.set("#language", language)
	p.set("#script", script)
	// The button is disabled while something runs, which may be over before anybody looks.
	eval[any](p, `(() => {
		window.began = false;
		new MutationObserver((_, self) => { window.began = true; self.disconnect(); }).observe(document.querySelector("#run"), {attributeFilter: ["disabled"]});
		return null;
	})()`)
	p.click("#run")
	p.until(`window.began`)
}

func (p *page) ended() {
	p.t.Helper()
	p.until(`!document.querySelector("#run").disabled && document.querySelector("#result").innerText !== ""`)
}

// idle waits until the page shows all that it was given.
func (p *page) idle() {
	p.t.Helper()
	p.until(`new Promise((done) => {
		const before = document.querySelector(".lines")?.textContent.length;
		setTimeout(() => done(before === document.querySelector(".lines")?.textContent.length), 400);
	})`)
}

func TestConsole_Runs(t *testing.T) {
	_, p := console(t)
	p.shoot("empty")
	p.run("python", "import sys\nprint('to stdout')\nprint('to stderr', file=sys.stderr)\nsys.exit(3)\n")
	p.shows(".output .out", "to stdout")
	p.shows(".output .err", "to stderr")
	for _, want := range []string{"Exit code\n3", "exited", "wasm", "Wall time", "CPU time", "Peak memory", "10 B"} {
		p.shows("#result", want)
	}
	p.shows("#runs", "exit 3")
	p.shows("#runs", "wasm")
	p.shows("#sessions", "1\u00a0run")
	p.shoot("output")
	p.size(400, 900, false)
	if got := eval[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); got > 0 {
		t.Errorf("400 pixels wide, the page needs %d more", got)
	}
	p.size(1280, 900, false)

	p.set("#interpreter", "live")
	p.run("python", "x = 6 * 7\nx")
	p.shows("#result .value", "42")
	p.run("python", "x + 1")
	p.shows("#result .value", "43")

	p.set("#stdin", "from stdin")
	p.set("#interpreter", "fresh")
	p.run("python", "print(input()[::-1])")
	p.shows(".output", "nidts morf")
	p.set("#stdin", "")

	p.set("#timeout", "0.2")
	p.run("python", "while True: pass")
	p.shows("#result", "timeout")
}

func TestConsole_Shell(t *testing.T) {
	_, err := processes()
	testneed.Feature(t, "userns", err)
	_, p := console(t)
	p.run("shell", "echo shell; echo trouble >&2; echo kept > note.txt")
	p.shows(".output .out", "shell")
	p.shows(".output .err", "trouble")
	p.shows("#result", "native (userns)")
	p.shows("#files", "note.txt")
	p.shows("#files", "5 B")

	p.begin("shell", "yes")
	p.shows("#outputs .note", "no longer shown")
	p.click("#stop")
	p.ended()
	p.shows("#result", "cancelled")
}

func TestConsole_Stops(t *testing.T) {
	_, p := console(t)
	p.begin("python", "import time\ntry:\n    print('asleep', flush=True)\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    print('woken')\n")
	p.shows(".output", "asleep")
	p.shows("#runs", "running")
	p.click("#interrupt")
	p.ended()
	p.shows(".output", "woken")
	p.shows("#result", "Exit code\n0")

	p.begin("python", "import time\nprint('asleep', flush=True)\ntime.sleep(600)\n")
	p.shows(".output", "asleep")
	p.click("#stop")
	p.ended()
	p.shows("#result", "cancelled")
}

// A server that goes away is told in words, and not by a page that waits.
func TestConsole_ServerGone(t *testing.T) {
	s, p := console(t, "ERR_")
	p.begin("python", "import time\nprint('asleep', flush=True)\ntime.sleep(600)\n")
	p.shows(".output", "asleep")
	s.http.Close()
	p.ended()
	p.shows("#result", "connection to the server is lost")
	p.shows("#error", "connection to the server is lost")
	p.shoot("error")
}

func TestConsole_Detached(t *testing.T) {
	_, p := console(t)
	eval[any](p, `document.querySelector("#detach").click()`)
	p.begin("python", "import time\nprint('before', flush=True)\nwhile True: time.sleep(0.05)\n")
	p.shows(".output", "before")
	p.click("#leave")
	p.shows("#result", "goes on")
	p.shows("#runs", "detached")
	eval[any](p, `document.querySelector("#detach").click()`)
	p.run("python", "print('between')")
	p.shoot("detached")
	p.click(`[data-key^="Attach"]`)
	p.shows(".output", "before")
	p.click("#stop")
	p.ended()
	p.shows("#result", "cancelled")
}

func TestConsole_Files(t *testing.T) {
	_, p := console(t)
	p.run("python", "import os\nos.makedirs('deep/er')\nopen('deep/er/a.txt', 'w').write('x' * 2000)\nopen('<b>bold.txt', 'w').write('1')\nopen(b'bad\\xff', 'w').write('2')\n")
	p.shows("#result", "Exit code\n0")
	p.shows("#files", "<b>bold.txt")
	downloads := t.TempDir()
	if err := p.b.call("", "Browser.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": downloads}, nil); err != nil {
		t.Fatal(err)
	}
	p.click(`#files [aria-label="deep/"], #files td:first-child button`)
	p.shows("#files", "er/")
	p.click(`#files td:first-child button`)
	p.shows("#files", "a.txt")
	p.shows("#files", "2.0 KiB")
	p.click(`[aria-label="Download a.txt"]`)
	if got := await(t, downloads, "a.txt"); got != strings.Repeat("x", 2000) {
		t.Errorf("downloaded %d bytes, want 2000", len(got))
	}

	p.upload("#upload", "up.txt", strings.Repeat("0123456789", 200_000))
	p.shows("#files", "up.txt")
	p.shows("#files", "1.9 MiB")
	p.shoot("files")
	p.click(`[aria-label="Remove up.txt"]`)
	p.click(`[aria-label="Sure? Remove up.txt"]`)
	p.until(`!document.querySelector("#files").innerText.includes("up.txt")`)
	p.click(`[aria-label="Work directory"]`)
	p.shows("#files", "bad\ufffd")
	p.click(`[aria-label="Remove bad` + "\ufffd" + `"]`)
	p.click(`[aria-label="Sure? Remove bad` + "\ufffd" + `"]`)
	p.until(`!document.querySelector("#files").innerText.includes("bad")`)
	if text := p.text("#error"); text != "" {
		t.Errorf("an error is shown: %s", text)
	}
}

func TestConsole_Sessions(t *testing.T) {
	_, p := console(t)
	p.run("python", "print('in the first')")
	p.set("#label", "second")
	p.set("#memory", "64")
	eval[any](p, `document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
	p.shoot("options")
	p.click("#open")
	p.shows("#sessions", "second")
	p.until(`document.querySelector("#result").innerText === ""`)
	p.run("python", "print('in the second')\nbytearray(200 << 20)")
	p.shows("#result", "Exit code")
	if code := p.text("#result .bad"); code == "" {
		t.Errorf("200 MiB within 64: %s", p.text("#result"))
	}
	p.click(`#sessions li:first-child .session`)
	p.shows(".output", "in the first")
	p.click(`#sessions li:first-child .small`)
	p.click(`#sessions li:first-child .sure`)
	p.until(`document.querySelectorAll("#sessions li").length === 1`)
	p.until(`document.querySelector("#work").hidden`)
}

// Everything can be reached with Tab, the script can be left, and the result is announced.
func TestConsole_Keyboard(t *testing.T) {
	_, p := console(t)
	p.tabTo("script")
	p.typeText("for i in range(2):")
	p.press("Enter", 0)
	p.typeText("print('line', i)")
	p.press("Enter", 0)
	p.press("Tab", 0)
	if got, want := eval[string](p, `document.querySelector("#script").value`), "for i in range(2):\n    print('line', i)\n        "; got != want {
		t.Errorf("the script is %q, want %q", got, want)
	}
	p.press("Enter", ctrl)
	p.shows(".output", "line 1")
	p.press("Escape", 0)
	p.press("Tab", 0)
	if got := eval[string](p, `document.activeElement.id`); got != "language" {
		t.Errorf("Esc and Tab leave the script for %q, want the language", got)
	}
	for _, id := range []string{"interpreter", "timeout", "detach", "run", "show", "refresh-runs", "upload"} {
		p.tabTo(id)
	}
	if got := eval[string](p, `document.querySelector("#result").getAttribute("aria-live")`); got != "polite" {
		t.Errorf("aria-live of the result is %q", got)
	}
	if unnamed := eval[[]string](p, `[...document.querySelectorAll("input, select, textarea")]
		.filter((e) => !e.labels?.length && !e.getAttribute("aria-label")).map((e) => e.id)`); len(unnamed) > 0 {
		t.Errorf("without a label: %v", unnamed)
	}
}

// tabTo presses Tab until an element has the focus.
func (p *page) tabTo(id string) {
	p.t.Helper()
	for range 60 {
		if eval[string](p, `document.activeElement?.id ?? ""`) == id {
			return
		}
		p.press("Tab", 0)
	}
	p.t.Fatalf("Tab does not get to %s", id)
}

// The page is not there unless it was asked for, and its own origin may call then only.
func TestConsole_Switch(t *testing.T) {
	for _, tt := range []struct {
		on         bool
		page, call int
	}{{false, http.StatusNotFound, http.StatusForbidden}, {true, http.StatusOK, http.StatusOK}} {
		s := serve(t, nil, &server.HandlerOptions{Console: tt.on})
		if got := ask(t, http.MethodGet, s.url+"/console/", ""); got != tt.page {
			t.Errorf("console %t: the page gets %d, want %d", tt.on, got, tt.page)
		}
		if got := ask(t, http.MethodPost, s.url+listSessions, s.url); got != tt.call {
			t.Errorf("console %t: a call of the page's origin gets %d, want %d", tt.on, got, tt.call)
		}
		if got := ask(t, http.MethodPost, s.url+listSessions, "http://127.0.0.1:1"); got != http.StatusForbidden {
			t.Errorf("console %t: a call of another origin gets %d, want 403", tt.on, got)
		}
	}
}

const listSessions = "/sandbox.v2.SandboxService/ListSessions"

func ask(t *testing.T, method, url, origin string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}
