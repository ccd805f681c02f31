package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/server"
)

const markup = `<img src=x onerror=alert(1)><script>alert(2)</script>`

// What scripts write, return and name is text in the page, wherever it is shown.
func TestHostile_Text(t *testing.T) {
	_, p := console(t)
	p.set("#label", "<b>"+markup)
	p.click("#open")
	p.shows("#sessions", "<b>"+markup)
	p.set("#interpreter", "live")
	p.run("python", fmt.Sprintf("import sys\nopen('<img src=x>.txt', 'w').close()\nm = %q\nprint(m)\nprint(m, file=sys.stderr)\nm", markup))
	for _, where := range []string{".output .out", ".output .err", "#result .value"} {
		p.shows(where, markup)
	}
	p.shows("#files", "<img src=x>.txt")
	if got := eval[int](p, `document.querySelectorAll("img, body script, b").length`); got != 0 {
		t.Errorf("%d elements of what a script wrote are in the page", got)
	}
}

// Were there a hole in the page, its policy would still refuse markup, inline code and other servers; and the tests would see
// that something was refused.
func TestHostile_Policy(t *testing.T) {
	_, p := console(t)
	site := elsewhere(t, "")
	got := eval[[]string](p, `(async () => {
		const out = [];
		const attempt = async (name, f) => { try { await f(); out.push(name); } catch { } };
		const script = (properties) => Object.assign(document.createElement("script"), properties);
		await attempt("markup", () => { document.querySelector("#error").innerHTML = "<b>x</b>"; });
		await attempt("inline script", () => { document.body.append(script({text: "window.ran = true"})); });
		await attempt("script of another site", () => { document.body.append(script({src: %[1]q})); });
		await attempt("another server", () => fetch(%[1]q, {mode: "no-cors"}));
		await attempt("inline style", () => {
			const e = document.createElement("p");
			e.setAttribute("style", "position: fixed");
			document.body.append(e);
			if (getComputedStyle(e).position !== "fixed") throw new Error("refused");
		});
		await attempt("picture of another site", () => new Promise((done, failed) => {
			document.body.append(Object.assign(new Image(), {src: %[1]q, onload: done, onerror: failed}));
		}));
		if (window.ran) out.push("the inline script ran");
		return out;
	})()`, site)
	if len(got) > 0 {
		t.Errorf("the policy allows: %v", got)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.problems) < 6 {
		t.Errorf("the browser complains of %d things, want 6 and more: %q", len(p.problems), p.problems)
	}
	p.problems = nil
}

func TestHostile_Escapes(t *testing.T) {
	_, p := console(t)
	p.run("python", `print('\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2J\x1b[8mseen\x1b[28m \u202egnorw\x00 50%\r60%\r\ndone\x1b]never ended\nnext')`)
	p.idle()
	want := "red seen \\u{202e}gnorw\u2400 50%\n60%\ndone\nnext\n"
	if got := eval[string](p, `document.querySelector(".lines").textContent`); got != want {
		t.Errorf("the output is %q, want %q", got, want)
	}
	if got := p.text(".output .c1"); got != "red" {
		t.Errorf("red is %q", got)
	}
	if got := eval[string](p, `document.title`); got != "Sandbar console" {
		t.Errorf("the title is %q", got)
	}
}

// The reader of escape sequences does the same wherever a text is cut.
func TestHostile_EscapesCut(t *testing.T) {
	_, p := console(t)
	got := eval[[]string](p, `(async () => {
		const {Terminal} = await import("/console/ansi.js");
		const text = "a\x1b[1;38;5;3mb\x1b]8;;http://x\x1b\\c\x1b[0m\r\nd\re\x1b(Bf\x1b[48;2;1;2;3mg\x1bPq\nh\x1b[999999;\x01i";
		const read = (...parts) => {
			const t = new Terminal();
			const out = parts.flatMap((p) => t.feed(p)).filter(([text]) => text);
			return out.reduce((all, [text, cls]) => all + (all.endsWith("\u0001" + cls) ? "" : "") + [...text].map((c) => c + cls).join("|") + "|", "");
		};
		const all = new Set([read(text)]);
		for (let i = 0; i <= text.length; i++) all.add(read(text.slice(0, i), text.slice(i)));
		all.add(read(...text));
		return [...all];
	})()`)
	if len(got) != 1 {
		t.Errorf("%d readings of one text: %q", len(got), got)
	}
}

// 20 MB of lines end, leave a bounded page, and the page answers meanwhile.
func TestHostile_Much(t *testing.T) {
	skipShort(t)
	_, p := console(t)
	p.begin("python", "import sys\nline = 'y' * 98 + '\\n'\nfor i in range(200_000): sys.stdout.write(line)\nprint('the end')\n")
	frames := eval[int](p, `new Promise((done) => {
		let n = 0;
		const end = performance.now() + 1000;
		const next = () => { n++; performance.now() < end ? requestAnimationFrame(next) : done(n); };
		next();
	})`)
	t.Logf("%d pictures in the first second", frames)
	p.ended()
	p.shows("#result", "19 MiB")
	p.idle()
	p.bounded()
	p.shows(".lines", "the end")
	if gap := eval[float64](p, `(({scrollHeight, scrollTop, clientHeight}) => scrollHeight - scrollTop - clientHeight)(document.querySelector(".output"))`); gap > 30 {
		t.Errorf("the end is %v pixels out of view", gap)
	}
	p.shows(".note", "no longer shown")
	p.shoot("much")
}

// Colours that change with every letter, on both streams in turn, are no way to fill the page with elements.
func TestHostile_ManyElements(t *testing.T) {
	skipShort(t)
	_, p := console(t)
	p.run("python", "import sys\nfor i in range(8000):\n  sys.stdout.write(''.join(f'\\x1b[3{j}mx' for j in range(8)))\n  if i % 100 == 0: sys.stderr.write('e'); sys.stderr.flush(); sys.stdout.flush()\n")
	p.shows("#result", "Exit code\n0")
	p.idle()
	p.bounded()
	p.run("python", "print('and now')")
	p.shows(".output", "and now")
}

// One line of 6 MB is shown as far as there is room for it.
func TestHostile_LongLine(t *testing.T) {
	skipShort(t)
	_, p := console(t)
	p.run("python", "print('z' * 6_000_000)")
	p.shows("#result", "Exit code\n0")
	p.idle()
	p.bounded()
}

// skipShort leaves out what is much work for the browser, and none for the server.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many megabytes in a browser")
	}
}

// bounded checks what the page holds of the output.
func (p *page) bounded() {
	p.t.Helper()
	if n := eval[int](p, `document.querySelector(".lines").textContent.length`); n > 5<<20 {
		p.t.Errorf("the page holds %d characters", n)
	}
	if n := eval[int](p, `document.querySelectorAll(".lines *").length`); n > 30_000 {
		p.t.Errorf("the page holds %d elements", n)
	}
}

// A page of another origin gets nowhere, whichever way it asks.
func TestHostile_OtherOrigin(t *testing.T) {
	s := serve(t, nil, &server.HandlerOptions{Console: true})
	site := elsewhere(t, "<!doctype html><title>elsewhere</title><body>")
	p := start(t).open(t, site, "CORS", "Cors", "status of 403", "Framing", "frame-ancestors", "refused to connect", "ERR_", "favicon", "ContentSecurityPolicy", "SharedDictionary", "Quirks", "OpaqueResponse", "BlockedByResponse", "NotSameOrigin", "blockedByResponse")
	got := eval[[]string](p, `(async () => {
		const url = %q, call = url + %q, out = [];
		const attempt = async (name, f) => { try { out.push(name + " " + await f()); } catch (e) { out.push(name + " refused"); } };
		const json = {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"};
		await attempt("json", async () => (await fetch(call, json)).text());
		await attempt("plain", async () => (await fetch(call, {method: "POST", body: "{}"})).text());
		await attempt("opaque", async () => (await fetch(call, {...json, mode: "no-cors"})).type);
		await attempt("get", async () => (await fetch(url + "/console/", {mode: "cors"})).text());
		await attempt("module", async () => { await import(url + "/console/app.js"); return "loaded"; });
		const frame = document.createElement("iframe");
		frame.src = url + "/console/";
		const loaded = new Promise((done) => { frame.onload = done; });
		document.body.append(frame);
		await loaded;
		await attempt("frame", async () => frame.contentWindow.document.title);
		return out;
	})()`, s.url, listSessions)
	for _, outcome := range got {
		if !strings.HasSuffix(outcome, " refused") && outcome != "opaque opaque" {
			t.Errorf("another origin: %s", outcome)
		}
	}
	seen := s.requests()
	if len(seen) == 0 {
		t.Error("no request has come")
	}
	if i := slices.IndexFunc(seen, func(r string) bool { return !strings.HasSuffix(r, " 403") }); i >= 0 {
		t.Errorf("not refused: %v", seen)
	}
}
