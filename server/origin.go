package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// BrowserOptions are for NewBrowserGuard. Nil and the zero value mean the defaults.
type BrowserOptions struct {
	// Hosts are names and IP addresses, without ports, that requests may be for, beside those of a loopback on a connection over a
	// loopback. A server beyond loopback, or behind a proxy, must have those that its clients use.
	Hosts []string
	// Origins are whose pages may call the server, like "https://tools.example.com": exactly so, with the port if it is
	// not that of the scheme. Their pages may read what is answered, and send tokens that they have. Neither "*" nor "null"
	// can be among them.
	Origins []string
	// Console allows the server's own pages to call it. Behind a proxy that ends TLS the server does not know its own origin: name
	// it in Origins.
	Console bool
}

// A BrowserGuard keeps pages in a browser off the server: those of other sites, and those whose site has made its own name lead to this
// server's address (DNS rebinding). It looks at headers that pages cannot set. It is no protection against anything
// but a browser, since other programs set what they like.
//
// What it lets through is for the handlers to judge: Connect's take POST requests of the content types of their protocols,
// which no form and no page of another site can send unasked, and GET for what has no side effects.
type BrowserGuard struct {
	hosts   []string
	origins []string
	console bool
}

// NewBrowserGuard checks the options. Errors are *engine.InvalidError.
func NewBrowserGuard(opts *BrowserOptions) (*BrowserGuard, error) {
	if opts == nil {
		opts = &BrowserOptions{}
	}
	g := &BrowserGuard{console: opts.Console}
	for i, h := range opts.Hosts {
		host, err := splitHost(h)
		if err != nil || host.port != "" {
			return nil, invalid(fmt.Sprintf("Hosts[%d]", i), "is not a name or an IP address without a port")
		}
		g.hosts = append(g.hosts, host.name)
	}
	for i, o := range opts.Origins {
		origin, err := canonicalOrigin(o)
		if err != nil {
			return nil, invalid(fmt.Sprintf("Origins[%d]", i), err.Error())
		}
		g.origins = append(g.origins, origin)
	}
	return g, nil
}

// Wrap is next behind the guard. What is refused gets 403 with a line that says why.
func (g *BrowserGuard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(g.origins) > 0 {
			w.Header().Add("Vary", "Origin")
		}
		listed, err := g.check(r)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusForbidden)
		case listed != "" && isPreflight(r):
			preflight(w.Header(), listed)
			w.WriteHeader(http.StatusNoContent)
		default:
			if listed != "" {
				w.Header().Set("Access-Control-Allow-Origin", listed)
				w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
			}
			next.ServeHTTP(w, r)
		}
	})
}

// check returns the request's origin when it is one of the list.
func (g *BrowserGuard) check(r *http.Request) (listed string, err error) {
	if err := g.checkHost(r); err != nil {
		return "", err
	}
	origins := r.Header["Origin"]
	switch {
	case len(origins) > 1:
		return "", errors.New("more than one Origin header")
	case len(origins) == 1:
		origin, err := canonicalOrigin(origins[0])
		if err != nil {
			return "", errors.New("the page has an origin that is not allowed")
		}
		if slices.Contains(g.origins, origin) {
			return origins[0], nil // as it was sent: browsers compare it letter by letter
		}
		if !g.console || origin != ownOrigin(r) {
			return "", errors.New("the page has an origin that is not allowed")
		}
	}
	return "", checkSite(r.Header["Sec-Fetch-Site"])
}

// checkSite refuses what another site has a browser ask for. A page on another port of this host is of the same site as a page
// of ours, and is not ours. Browsers leave Origin out of many GET requests, so that this header is all there is.
func checkSite(values []string) error {
	switch {
	case len(values) == 0: // not a browser, or one from before 2023
		return nil
	case len(values) == 1 && (values[0] == "same-origin" || values[0] == "none"):
		return nil
	}
	return errors.New("the request is made by a page of another site")
}

// checkHost refuses a request for a name that is not the server's. A page whose site's name leads here by DNS sends that
// name, and to the browser it is of the same origin.
func (g *BrowserGuard) checkHost(r *http.Request) error {
	network, local := localAddr(r)
	if network == "unix" {
		return nil // no browser gets there, and clients have no name to give
	}
	host, err := splitHost(r.Host)
	if err != nil {
		return errors.New("the Host header is missing or not a host")
	}
	if slices.Contains(g.hosts, host.name) {
		return nil
	}
	if local.IsLoopback() && (host.name == "localhost" || host.addr.IsLoopback()) {
		return nil
	}
	return errors.New("the Host header names a host that this server does not answer for")
}

// localAddr is where the connection of a request arrived.
func localAddr(r *http.Request) (network string, ip netip.Addr) {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr == nil {
		return "", ip // unknown: nothing is allowed for it
	}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		ip = tcp.AddrPort().Addr().Unmap()
	}
	return addr.Network(), ip
}

// A hostPort is a Host header. Name is in lower case; addr is set when it is an IP address, and name is its usual form.
type hostPort struct {
	name, port string
	addr       netip.Addr
}

var errHost = errors.New("is not a host")

// splitHost parses a Host header, which is stricter than the one of URLs: no user, no zone, no percent signs.
func splitHost(s string) (h hostPort, err error) {
	h.name = s
	if end := strings.IndexByte(s, ']'); strings.HasPrefix(s, "[") && end > 0 {
		h.name, s = s[:end+1], s[end+1:]
		if s != "" && s[0] != ':' {
			return h, errHost
		}
		h.port = strings.TrimPrefix(s, ":")
		if s == ":" {
			return h, errHost
		}
	} else if name, port, ok := strings.Cut(s, ":"); ok && !isIPv6(s) {
		h.name, h.port = name, port
		if port == "" {
			return h, errHost
		}
	}
	if h.port != "" {
		if n, err := strconv.ParseUint(h.port, 10, 16); err != nil || n == 0 {
			return h, errHost
		}
	}
	return h, h.setName()
}

// isIPv6 reports whether s is an address without brackets, as in BrowserOptions.Hosts.
func isIPv6(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is6()
}

func (h *hostPort) setName() error {
	literal, bracketed := strings.CutPrefix(h.name, "[")
	if bracketed {
		literal = strings.TrimSuffix(literal, "]")
	}
	if addr, err := netip.ParseAddr(literal); err == nil {
		if addr.Zone() != "" || bracketed && addr.Is4() {
			return errHost
		}
		h.addr, h.name = addr, addr.String()
		return nil
	}
	h.name = strings.ToLower(h.name)
	if h.name == "" || len(h.name) > 253 || !isMade(h.name, ".-_") {
		return errHost
	}
	return nil
}

// canonicalOrigin is the origin in the form in which two can be compared: scheme://host:port, in lower case.
func canonicalOrigin(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || !strings.EqualFold(s, u.Scheme+"://"+u.Host) {
		return "", errors.New("is not an origin of the form scheme://host or scheme://host:port")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("has a scheme that is neither http nor https")
	}
	return originOf(u.Scheme, u.Host)
}

// ownOrigin is the origin of a page that the server would send for this request.
func ownOrigin(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	origin, err := originOf(scheme, r.Host)
	if err != nil {
		return ""
	}
	return origin
}

func originOf(scheme, host string) (string, error) {
	h, err := splitHost(host)
	if err != nil {
		return "", err
	}
	if h.port == "" {
		h.port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(h.name, h.port), nil
}

func invalid(field, problem string) error {
	return &engine.InvalidError{Field: field, Problem: problem}
}
