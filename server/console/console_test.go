package console

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
)

// ask is the answer to a request for a file of the page.
func ask(t *testing.T, method, name string, header http.Header) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/console/"+name, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	http.StripPrefix("/console/", Handler()).ServeHTTP(w, r)
	response := w.Result()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestHandler_Answers(t *testing.T) {
	for _, tt := range []struct {
		method, name string
		status       int
		kind         string
	}{
		{http.MethodGet, "", 200, "text/html; charset=utf-8"},
		{http.MethodHead, "", 200, "text/html; charset=utf-8"},
		{http.MethodGet, "app.js", 200, "text/javascript; charset=utf-8"},
		{http.MethodGet, "style.css", 200, "text/css; charset=utf-8"},
		{http.MethodGet, "icon.svg", 200, "image/svg+xml"},
		{http.MethodGet, "console.go", 404, "text/plain; charset=utf-8"},
		{http.MethodGet, "page/app.js", 404, "text/plain; charset=utf-8"},
		{http.MethodGet, "../console/app.js", 404, "text/plain; charset=utf-8"},
		{http.MethodPost, "", 405, "text/plain; charset=utf-8"},
		{http.MethodPut, "app.js", 405, "text/plain; charset=utf-8"},
	} {
		response, _ := ask(t, tt.method, tt.name, nil)
		if got := response.Header.Get("Content-Type"); response.StatusCode != tt.status || got != tt.kind {
			t.Errorf("%s %q: %d %s, want %d %s", tt.method, tt.name, response.StatusCode, got, tt.status, tt.kind)
		}
		for key, want := range map[string]string{
			"Content-Security-Policy": policy,
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
			"X-Frame-Options":         "DENY",
		} {
			if got := response.Header.Get(key); got != want {
				t.Errorf("%s %q: %s is %q, want %q", tt.method, tt.name, key, got, want)
			}
		}
	}
}

func TestHandler_Unchanged(t *testing.T) {
	first, _ := ask(t, http.MethodGet, "app.js", nil)
	tag := first.Header.Get("Etag")
	again, body := ask(t, http.MethodGet, "app.js", http.Header{"If-None-Match": {tag}})
	if again.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("with its tag %s: %d and %d bytes, want 304 and none", tag, again.StatusCode, len(body))
	}
	other, _ := ask(t, http.MethodGet, "style.css", http.Header{"If-None-Match": {tag}})
	if other.StatusCode != http.StatusOK {
		t.Errorf("another file with that tag: %d, want 200", other.StatusCode)
	}
	if got := first.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("Cache-Control %q, want no-cache", got)
	}
}

// The policy lets neither in: a page that has them works only in part, and nobody sees why.
func TestPage_NothingInline(t *testing.T) {
	_, html := ask(t, http.MethodGet, "", nil)
	for _, not := range []string{"<style", " style=", " onclick=", " onload=", "javascript:", "http://", "https://", "<script>"} {
		if strings.Contains(html, not) {
			t.Errorf("index.html has %q", not)
		}
	}
}

func TestPage_EveryFileIsServed(t *testing.T) {
	entries, err := page.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if response, _ := ask(t, http.MethodGet, e.Name(), nil); response.StatusCode != http.StatusOK {
			t.Errorf("%s: %d; is its type %s in the table?", e.Name(), response.StatusCode, path.Ext(e.Name()))
		}
	}
}
