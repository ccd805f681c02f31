package console

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
	"github.com/sandbar-dev/sandbar/server"
)

// withTokens starts a server for an administrator and somebody else.
func withTokens(t *testing.T) (s *testServer, admin, other string) {
	t.Helper()
	admin, adminHash := server.NewToken()
	other, otherHash := server.NewToken()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, fmt.Appendf(nil, "chief %s admin\nother %s\n", adminHash, otherHash), 0o600); err != nil {
		t.Fatal(err)
	}
	who, err := server.OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, who, &server.HandlerOptions{Console: true}), admin, other
}

func (p *page) signIn(token string) {
	p.t.Helper()
	p.set("#token", token)
	p.click("#token-form [type=submit]")
}

const wantsToken = "wants a token that it knows"

func TestToken_Wrong(t *testing.T) {
	s, _, _ := withTokens(t)
	p := start(t).open(t, s.url+"/console/", "status of 401")
	p.shows("#error", wantsToken)
	p.shoot("token")
	before := len(s.requests())
	p.signIn("sbr_wrongwrongwrongwrongwrongwrongwr")
	p.until(`document.querySelector("#error:not([hidden])") !== null`)
	p.shows("#error", wantsToken)
	if got := len(s.requests()); got == before {
		t.Error("the wrong token was not tried")
	}
	p.signIn("not a token")
	p.shows("#error", "letters, digits")
}

// A token stays in the memory of the page, unless it is to be kept.
func TestToken_Kept(t *testing.T) {
	s, _, token := withTokens(t)
	p := start(t).open(t, s.url+"/console/", "status of 401")
	p.shows("#error", wantsToken)
	p.signIn(token)
	p.until(`document.querySelector("#token-form").hidden && document.querySelector("#error").hidden`)
	p.click("#open")
	p.until(`document.querySelectorAll("#sessions li").length === 1`)
	if got := eval[int](p, `sessionStorage.length + localStorage.length`); got != 0 {
		t.Errorf("the page stores %d things", got)
	}
	p.reload()
	p.shows("#error", wantsToken)

	p.click("#token-keep")
	p.signIn(token)
	p.until(`document.querySelectorAll("#sessions li").length === 1`)
	p.reload()
	p.until(`document.querySelectorAll("#sessions li").length === 1`)
	p.click("#show-token")
	p.click("#token-forget")
	p.shows("#error", wantsToken)
	if got := eval[int](p, `sessionStorage.length + localStorage.length`); got != 0 {
		t.Errorf("the page stores %d things that were to be forgotten", got)
	}
}

func (p *page) reload() {
	p.t.Helper()
	eval[any](p, `(window.old = true, null)`)
	p.do("Page.reload", nil, nil)
	p.until(`!window.old && document.readyState === "complete"`)
}

func TestToken_Administrator(t *testing.T) {
	s, admin, other := withTokens(t)
	client := sandboxv2connect.NewSandboxServiceClient(http.DefaultClient, s.url)
	theirs := connect.NewRequest(&sandboxv2.OpenSessionRequest{Label: "theirs"})
	theirs.Header().Set("Authorization", "Bearer "+other)
	if _, err := client.OpenSession(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	b := start(t)
	p := b.open(t, s.url+"/console/", "status of 401", "status of 404")
	p.shows("#error", wantsToken)
	p.signIn(admin)
	p.shows("#server", "test")
	if got := p.text("#sessions"); got != "" {
		t.Errorf("without asking for all, the administrator sees %q", got)
	}
	p.click("#all")
	p.shows("#sessions", "theirs")
	p.shows("#sessions", "of\u00a0other")
	p.click("#sessions .session")
	p.shows("#error", "somebody else's")
	p.click("#sessions .small")
	p.click("#sessions .sure")
	p.until(`document.querySelectorAll("#sessions li").length === 0`)

	p = b.open(t, s.url+"/console/", "status of 401", "status of 403")
	p.shows("#error", wantsToken)
	p.signIn(other)
	p.shows("#server", "test") // it has signed in, which puts errors away
	p.until(`document.querySelector("#error").hidden`)
	p.click("#all")
	p.shows("#error", "policy does not allow")
	p.until(`!document.querySelector("#all").checked`)
}
