package console

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var shots = flag.String("shots", "", "a directory for pictures of the page")

// A page is a tab of the browser. What it complains of fails the test: an exception, an error in the console, or anything that
// its policy has refused.
type page struct {
	t       *testing.T
	b       *browser
	session string

	mu       sync.Mutex
	problems []string
	expected []string // parts of problems that are none
}

// open opens a page, and closes it with the test.
func (b *browser) open(t *testing.T, url string, expected ...string) *page {
	t.Helper()
	var target struct{ TargetID string }
	if err := b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		t.Fatal(err)
	}
	var attached struct{ SessionID string }
	if err := b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, b: b, session: attached.SessionID, expected: expected}
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Audits"} {
		p.do(domain+".enable", nil, nil)
	}
	p.size(1280, 900, false)
	p.do("Page.navigate", map[string]any{"url": url}, nil)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the page says: %s", p.text("body"))
		}
		if err := b.call("", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			t.Errorf("the page complains: %s", problem)
		}
	})
	p.until(`document.readyState === "complete"`)
	return p
}

// event notes what a page complains of.
func (p *page) event(m message) {
	problem := ""
	switch m.Method {
	case "Runtime.exceptionThrown", "Audits.issueAdded", "Page.javascriptDialogOpening":
		problem = m.Method + " " + string(m.Params)
	case "Runtime.consoleAPICalled":
		var e struct{ Type string }
		if json.Unmarshal(m.Params, &e) == nil && (e.Type == "error" || e.Type == "warning" || e.Type == "assert") {
			problem = string(m.Params)
		}
	case "Log.entryAdded":
		var e struct{ Entry struct{ Level string } }
		if json.Unmarshal(m.Params, &e) == nil && (e.Entry.Level == "error" || e.Entry.Level == "warning") {
			problem = string(m.Params)
		}
	}
	for _, part := range p.expected {
		if strings.Contains(problem, part) {
			return
		}
	}
	if problem == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, problem)
}

func (p *page) do(method string, params map[string]any, result any) {
	p.t.Helper()
	if err := p.b.call(p.session, method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

// eval gives the value of an expression in the page, which may be a promise.
func eval[T any](p *page, format string, args ...any) T {
	p.t.Helper()
	expression := fmt.Sprintf(format, args...)
	var out struct {
		Result           struct{ Value T }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.do("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &out)
	if e := out.ExceptionDetails; e != nil {
		p.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	return out.Result.Value
}

// until waits until an expression is true.
func (p *page) until(format string, args ...any) {
	p.t.Helper()
	for end := time.Now().Add(patience); !eval[bool](p, format, args...); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("the page does not get to: "+format, args...)
		}
	}
}

// shows waits until the text of an element has a part.
func (p *page) shows(selector, part string) {
	p.t.Helper()
	p.until(`document.querySelector(%q)?.innerText.includes(%q) ?? false`, selector, part)
}

func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, `document.querySelector(%q)?.innerText ?? ""`, selector)
}

// click clicks on the middle of an element with the mouse, so that it has to be seen.
func (p *page) click(selector string) {
	p.t.Helper()
	p.until(`document.querySelector(%q)?.checkVisibility() ?? false`, selector)
	at := eval[struct {
		X, Y float64
		Hit  bool
	}](p, `(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		const at = {x: r.x + r.width / 2, y: r.y + r.height / 2};
		const under = document.elementFromPoint(at.x, at.y);
		return {...at, hit: e.contains(under) || (under?.contains(e) ?? false)};
	})()`, selector)
	if !at.Hit {
		p.t.Fatalf("click %s: something else is above it", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// Keys that tests press.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27}

const ctrl = 2 // a modifier

func (p *page) press(key string, modifiers int) {
	p.t.Helper()
	down := map[string]any{"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": keys[key], "modifiers": modifiers}
	if text := map[string]string{"Enter": "\r"}[key]; text != "" && modifiers == 0 {
		down["type"], down["text"] = "keyDown", text
	}
	p.do("Input.dispatchKeyEvent", down, nil)
	p.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": keys[key], "modifiers": modifiers}, nil)
}

func (p *page) typeText(text string) {
	p.t.Helper()
	p.do("Input.insertText", map[string]any{"text": text}, nil)
}

// set gives a field a value.
func (p *page) set(selector, value string) {
	p.t.Helper()
	eval[any](p, `(() => {
		const e = document.querySelector(%q);
		e.value = %q;
		e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return null;
	})()`, selector, value)
}

// size sets the width and height of the page, and its colours.
func (p *page) size(width, height int, dark bool) {
	p.t.Helper()
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// shoot takes pictures of the page, wide and narrow, light and dark, where they are wanted.
func (p *page) shoot(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	for _, kind := range []struct {
		name  string
		width int
		dark  bool
	}{{"wide-light", 1280, false}, {"wide-dark", 1280, true}, {"narrow-light", 400, false}, {"narrow-dark", 400, true}} {
		p.size(kind.width, 900, kind.dark)
		var shot struct{ Data string }
		p.do("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
		data, err := base64.StdEncoding.DecodeString(shot.Data)
		if err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*shots, name+"-"+kind.name+".png"), data, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	p.size(1280, 900, false)
}
