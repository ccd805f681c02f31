package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

const openSession = "/sandbox.v2.SandboxService/OpenSession"

var anybody = Anonymous(&Principal{Name: "anybody"})

func TestBrowserGuard_Host(t *testing.T) {
	service, h := guarded(t, anybody, &BrowserOptions{Hosts: []string{"Sandbox.example.com", "192.0.2.7", "2001:db8::1"}}, nil)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, h, l)
	for _, version := range []string{"h1", "h2c"} {
		c := client(t, version)
		for host, ok := range map[string]bool{
			"localhost": true, "LOCALHOST:1": true, "localhost:65535": true, "127.0.0.1": true, "127.1.2.3:80": true, "[::1]": true, "[::1]:8080": true,
			"sandbox.example.com": true, "SANDBOX.example.com:443": true, "192.0.2.7:80": true, "[2001:db8::1]:80": true, "[2001:DB8:0::1]": true,
			"evil.test": false, "localhost.evil.test": false, "127.0.0.1.evil.test": false, "evil.test:80": false, "evil.test.": false,
			"localhost.": false, "xlocalhost": false, "localhost.localdomain": false, "sandbox.example.com.evil.test": false,
			"x.sandbox.example.com": false, "127.1": false, "0x7f000001": false, "2130706433": false, "0.0.0.0": false, "[::]": false,
			"192.0.2.8": false, "10.0.0.1": false, "[2001:db8::2]": false,
		} {
			status, body, _ := post(t, c, "http://"+l.Addr().String()+openSession, http.Header{"Host": {host}})
			checkReached(t, version+" Host "+host, service, status, body, ok)
		}
	}
}

// checkReached wants 200 and a call of the service, or 403 with one line and no call.
func checkReached(t *testing.T, what string, service *nameService, status int, body string, ok bool) {
	t.Helper()
	n := service.count()
	switch {
	case ok && (status != http.StatusOK || n != 1):
		t.Errorf("%s: status %d, %d calls, want it to pass: %s", what, status, n, body)
	case !ok && (status != http.StatusForbidden || n != 0 || strings.Count(body, "\n") != 1 || len(body) < 10):
		t.Errorf("%s: status %d, %d calls, %q, want 403 with a line", what, status, n, body)
	}
}

// Go's client does not send these.
func TestBrowserGuard_RawHost(t *testing.T) {
	service, h := guarded(t, anybody, nil, nil)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, h, l)
	for _, tt := range []struct {
		name, head string
		status     string
	}{
		{"HTTP/1.0 without Host", "POST " + openSession + " HTTP/1.0\r\n", "403"},
		{"no Host", "POST " + openSession + " HTTP/1.1\r\n", "400"},
		{"empty Host", "POST " + openSession + " HTTP/1.1\r\nHost:\r\n", "403"},
		{"two Hosts", "POST " + openSession + " HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n", "400"},
		{"two in one", "POST " + openSession + " HTTP/1.1\r\nHost: localhost,evil.test\r\n", "4"},
		{"absolute form", "POST http://evil.test" + openSession + " HTTP/1.1\r\nHost: localhost\r\n", "403"},
		{"user", "POST " + openSession + " HTTP/1.1\r\nHost: localhost@evil.test\r\n", "4"},
		{"port that is none", "POST " + openSession + " HTTP/1.1\r\nHost: localhost:evil.test\r\n", "4"},
		{"two Origins", "POST " + openSession + " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://localhost\r\n", "403"},
		{"good", "POST " + openSession + " HTTP/1.1\r\nHost: localhost\r\n", "200"},
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, tt.head+"Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}") //nolint:errcheck // the answer tells
		answer, err := io.ReadAll(conn)
		conn.Close()
		_, rest, _ := strings.Cut(string(answer), " ")
		if err != nil || !strings.HasPrefix(rest, tt.status) {
			t.Errorf("%s: %q, %v, want %s", tt.name, answer, err, tt.status)
		}
		if n := service.count(); n != 0 && tt.status != "200" {
			t.Errorf("%s: %d calls reached the service", tt.name, n)
		}
	}
}

// A name of the loopback is for connections over it alone.
func TestBrowserGuard_LocalAddress(t *testing.T) {
	guard, err := NewBrowserGuard(&BrowserOptions{Hosts: []string{"sandbox.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		local net.Addr
		host  string
		ok    bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "localhost", true},
		{&net.TCPAddr{IP: net.IPv6loopback}, "localhost", true},
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7)}, "localhost", false},
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7)}, "127.0.0.1", false},
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7)}, "192.0.2.7", false}, // not named
		{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7)}, "sandbox.example.com:443", true},
		{&net.UnixAddr{Net: "unix"}, "anything at all", true},
		{nil, "localhost", false},
	} {
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, tt.local), http.MethodPost, "/", nil)
		r.Host = tt.host
		if err := guard.checkHost(r); (err == nil) != tt.ok {
			t.Errorf("Host %q at %v = %v, want success %v", tt.host, tt.local, err, tt.ok)
		}
	}
}

func TestBrowserGuard_Origin(t *testing.T) {
	listed := []string{"https://tools.example.com", "http://localhost:3000"}
	for _, tt := range []struct {
		name    string
		opts    *BrowserOptions
		origin  string // "OWN" is that of the server
		site    string
		ok      bool
		allowed string // Access-Control-Allow-Origin
	}{
		{"no browser", nil, "", "", true, ""},
		{"foreign", nil, "http://evil.test", "", false, ""},
		{"null", nil, "null", "", false, ""},
		{"empty", nil, " ", "", false, ""},
		{"another port", nil, "http://localhost:3000", "", false, ""},
		{"own, without console", nil, "OWN", "", false, ""},
		{"own, without console, same origin", nil, "OWN", "same-origin", false, ""},
		{"own, with console", &BrowserOptions{Console: true}, "OWN", "same-origin", true, ""},
		{"own, with console, old browser", &BrowserOptions{Console: true}, "OWN", "", true, ""},
		{"own by another scheme", &BrowserOptions{Console: true}, "OWNS", "", false, ""},
		{"another port, with console", &BrowserOptions{Console: true}, "http://127.0.0.1:1", "", false, ""},
		{"null, with console", &BrowserOptions{Console: true}, "null", "", false, ""},
		{"foreign, with console", &BrowserOptions{Console: true}, "http://evil.test", "cross-site", false, ""},
		{"own, but cross-site", &BrowserOptions{Console: true}, "OWN", "cross-site", false, ""},
		{"listed", &BrowserOptions{Origins: listed}, "https://tools.example.com", "cross-site", true, "https://tools.example.com"},
		{"listed with its port", &BrowserOptions{Origins: listed}, "https://tools.example.com:443", "cross-site", true, "https://tools.example.com:443"},
		{"listed, port", &BrowserOptions{Origins: listed}, "http://localhost:3000", "same-site", true, "http://localhost:3000"},
		{"listed by another scheme", &BrowserOptions{Origins: listed}, "http://tools.example.com", "", false, ""},
		{"listed with another port", &BrowserOptions{Origins: listed}, "https://tools.example.com:8443", "", false, ""},
		{"below a listed one", &BrowserOptions{Origins: listed}, "https://x.tools.example.com", "", false, ""},
		{"listed as a prefix", &BrowserOptions{Origins: listed}, "https://tools.example.com.evil.test", "", false, ""},
		{"listed as a user", &BrowserOptions{Origins: listed}, "https://tools.example.com@evil.test", "", false, ""},
		{"null with a list", &BrowserOptions{Origins: listed}, "null", "", false, ""},
		{"own with a list", &BrowserOptions{Origins: listed}, "OWN", "", false, ""},
		{"cross-site without origin", nil, "", "cross-site", false, ""},
		{"same-site without origin", nil, "", "same-site", false, ""},
		{"site that is not known", nil, "", "x", false, ""},
		{"typed by the user", nil, "", "none", true, ""},
		{"same origin without origin", nil, "", "same-origin", true, ""},
		{"foreign, text/plain", nil, "http://evil.test", "", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service, h := guarded(t, anybody, tt.opts, nil)
			l := listen(t, "tcp", "127.0.0.1:0")
			serve(t, h, l)
			header := http.Header{}
			if tt.origin != "" {
				own := strings.NewReplacer("OWNS", "https://"+l.Addr().String(), "OWN", "http://"+l.Addr().String())
				header.Set("Origin", own.Replace(tt.origin))
			}
			if tt.site != "" {
				header.Set("Sec-Fetch-Site", tt.site)
			}
			for _, version := range []string{"h1", "h2c"} {
				c := client(t, version)
				status, body, got := post(t, c, "http://"+l.Addr().String()+openSession, header)
				checkReached(t, version, service, status, body, tt.ok)
				checkCORS(t, got, tt.allowed)

				ask := header.Clone()
				ask.Set("Access-Control-Request-Method", "POST")
				status, _, got = do(t, c, http.MethodOptions, "http://"+l.Addr().String()+openSession, "", ask)
				checkCORS(t, got, tt.allowed)
				if want := tt.allowed != ""; (status == http.StatusNoContent) != want || got.Get("Access-Control-Allow-Headers") != "" != want {
					t.Errorf("%s preflight: status %d with %v, want success %v", version, status, got, want)
				}
				if n := service.count(); n != 0 {
					t.Errorf("%s preflight: %d calls reached the service", version, n)
				}
			}
		})
	}
}

func checkCORS(t *testing.T, got http.Header, allowed string) {
	t.Helper()
	if got.Get("Access-Control-Allow-Origin") != allowed || got.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("CORS headers in %v, want origin %q and no credentials", got, allowed)
	}
	if allowed != "" && got.Get("Vary") != "Origin" {
		t.Errorf("an answer that depends on Origin can be cached: %v", got)
	}
}

// What a form, an image or a fetch without leave can send never reaches a handler. These are the answers of connect-go
// itself: the guard leaves them to it.
func TestBrowserGuard_SimpleRequests(t *testing.T) {
	service, h := guarded(t, anybody, nil, nil)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, h, l)
	base := "http://" + l.Addr().String() + "/sandbox.v2.SandboxService/"
	for _, version := range []string{"h1", "h2c"} {
		c := client(t, version)
		for _, method := range []string{"OpenSession", "Run", "Health", "PutFile"} {
			for _, contentType := range []string{
				"text/plain", "text/plain; charset=utf-8", "TEXT/PLAIN", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
				"text/html", "text/plain; application/json", "text/plain,application/json", "application/jsonx", "application/octet-stream",
			} {
				status, body, _ := post(t, c, base+method, http.Header{"Content-Type": {contentType}})
				if n := service.count(); status != http.StatusUnsupportedMediaType || n != 0 {
					t.Errorf("%s %s of %q: status %d, %d calls, want 415 and none: %s", version, method, contentType, status, n, body)
				}
			}
		}
		message := "?" + url.Values{"connect": {"v1"}, "encoding": {"json"}, "message": {"{}"}}.Encode()
		for method, want := range map[string]int{"Health": 200, "OpenSession": 405, "Run": 405, "RunInteractive": 405, "PutFile": 405, "CloseSession": 405} {
			if method == "RunInteractive" && version == "h1" {
				want = http.StatusHTTPVersionNotSupported
			}
			status, body, _ := do(t, c, http.MethodGet, base+method+message, "", nil)
			if n := service.count(); status != want || n != 0 && method != "Health" {
				t.Errorf("%s GET %s: status %d, %d calls, want %d: %s", version, method, status, n, want, body)
			}
		}
		for _, method := range []string{http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, "QUERY"} {
			status, _, _ := do(t, c, method, base+"OpenSession", "", nil)
			if n := service.count(); status != http.StatusMethodNotAllowed || n != 0 {
				t.Errorf("%s %s: status %d, %d calls, want 405", version, method, status, n)
			}
		}
	}
}

func TestBrowserGuard_Unix(t *testing.T) {
	service, h := guarded(t, anybody, nil, nil)
	l := listen(t, "unix", filepath.Join(t.TempDir(), "s"))
	serve(t, h, l)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", l.Addr().String())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	for origin, ok := range map[string]bool{"": true, "http://evil.test": false} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		status, body, _ := post(t, &http.Client{Transport: transport}, "http://whatever.test"+openSession, header)
		checkReached(t, "origin "+origin, service, status, body, ok)
	}
}

func TestNewBrowserGuard_Invalid(t *testing.T) {
	for _, opts := range []BrowserOptions{
		{Origins: []string{"*"}},
		{Origins: []string{"null"}},
		{Origins: []string{""}},
		{Origins: []string{"https://a.test/"}},
		{Origins: []string{"https://a.test/x"}},
		{Origins: []string{"https://*.a.test"}},
		{Origins: []string{"ftp://a.test"}},
		{Origins: []string{"a.test"}},
		{Origins: []string{"https://a@b.test"}},
		{Origins: []string{"https://a.test?x"}},
		{Hosts: []string{"a.test:80"}},
		{Hosts: []string{"*"}},
		{Hosts: []string{""}},
		{Hosts: []string{"*.a.test"}},
		{Hosts: []string{"http://a.test"}},
		{Hosts: []string{"[::1]:80"}},
		{Hosts: []string{"fe80::1%lo"}},
	} {
		if _, err := NewBrowserGuard(&opts); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("NewBrowserGuard(%+v) = %v, want ErrInvalid", opts, err)
		}
	}
}

// FuzzBrowserGuard: over a loopback, what passes names the loopback in one of the forms that browsers know, and has no origin
// but the one of the list.
func FuzzBrowserGuard(f *testing.F) {
	for _, host := range []string{"localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:80", "::1", "[::1", "a:b", "127.0.0.1]", "[::ffff:127.0.0.1]"} {
		f.Add(host, "https://tools.example.com", "cross-site")
		f.Add(host, "", "same-origin")
	}
	guard, err := NewBrowserGuard(&BrowserOptions{Origins: []string{"https://tools.example.com"}})
	if err != nil {
		f.Fatal(err)
	}
	ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		listed, err := guard.check(r)
		if err != nil {
			return
		}
		u, err := url.Parse("http://" + host)
		if name := ""; err == nil {
			name = strings.ToLower(u.Hostname())
			if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
				t.Errorf("Host %q passed", host)
			}
		} else if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() { // an IPv6 address without brackets
			t.Errorf("Host %q passed", host)
		}
		lower := strings.ToLower(origin)
		if origin != "" && lower != "https://tools.example.com" && lower != "https://tools.example.com:443" || listed != origin {
			t.Errorf("origin %q passed as %q", origin, listed)
		}
		if origin == "" && site != "" && site != "same-origin" && site != "none" {
			t.Errorf("site %q passed", site)
		}
	})
}
