package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/server"
)

// Config is what a server is told by its command line and its file. Each field has the name of its flag, which is its key in
// the file as well.
type Config struct {
	Listen       []string      `key:"listen"`
	Backend      []string      `key:"backend"`
	StateDir     string        `key:"state-dir"`
	Tokens       string        `key:"tokens"`
	ClientCA     string        `key:"client-ca"`
	Certificates string        `key:"certificates"`
	TLSCert      string        `key:"tls-cert"`
	TLSKey       string        `key:"tls-key"`
	Policy       string        `key:"policy"`
	AllowHost    []string      `key:"allow-host"`
	AllowOrigin  []string      `key:"allow-origin"`
	AdminListen  string        `key:"admin-listen"`
	Console      bool          `key:"console"`
	MaxSessions  int           `key:"max-sessions"`
	MaxRuns      int           `key:"max-runs"`
	MaxQueued    int           `key:"max-queued"`
	MaxSnapshots int           `key:"max-snapshots"`
	IdleTimeout  time.Duration `key:"idle-timeout"`
	MaxLifetime  time.Duration `key:"max-lifetime"`
	DrainTimeout time.Duration `key:"drain-timeout"`
	LogLevel     string        `key:"log-level"`
	LogFormat    string        `key:"log-format"`
	OTLPEndpoint string        `key:"otlp-endpoint"`

	// places says where values of the file stand, by their keys.
	places map[string]string
}

// fromSystemd is an address: the sockets that systemd has opened.
const fromSystemd = "systemd"

// The values of --log-format.
const (
	logText = "text"
	logJSON = "json"
)

// flags adds a flag for each field, with its default. stateDir is the default of that one.
func (c *Config) flags(fs *pflag.FlagSet, stateDir string) {
	fs.StringArrayVar(&c.Listen, "listen", []string{"127.0.0.1:8700"}, `listen on this host:port, unix:/path, or "systemd" for the sockets that it passes; may be given again`)
	fs.StringArrayVar(&c.Backend, "backend", []string{string(native.Bubblewrap)}, "let sessions use this backend of the native tier; may be given again, the first is the default")
	fs.StringVar(&c.StateDir, "state-dir", stateDir, "keep work directories here; for one server alone")
	fs.StringVar(&c.Tokens, "tokens", "", "let in who has a token of this `file`")
	fs.StringVar(&c.ClientCA, "client-ca", "", "check client certificates by the authorities of this `file`; with --certificates")
	fs.StringVar(&c.Certificates, "certificates", "", "let in whose client certificate is in this `file`; with --client-ca")
	fs.StringVar(&c.TLSCert, "tls-cert", "", "use TLS with the certificate chain of this `file`; with --tls-key")
	fs.StringVar(&c.TLSKey, "tls-key", "", "use TLS with the private key of this `file`")
	fs.StringVar(&c.Policy, "policy", "", "read what callers may ask for from this `file`")
	fs.StringArrayVar(&c.AllowHost, "allow-host", nil, "answer requests for this name or address, without a port; may be given again")
	fs.StringArrayVar(&c.AllowOrigin, "allow-origin", nil, "let pages of this origin call the server; may be given again")
	fs.StringVar(&c.AdminListen, "admin-listen", "", "serve /healthz, /readyz and /metrics on this host:port or unix:/path")
	fs.BoolVar(&c.Console, "console", false, "serve a page for people at /console/")
	fs.IntVar(&c.MaxSessions, "max-sessions", 4096, "how many sessions there may be")
	fs.IntVar(&c.MaxRuns, "max-runs", 256, "how many runs may be under way")
	fs.IntVar(&c.MaxQueued, "max-queued", 1024, "how many more runs may wait")
	fs.IntVar(&c.MaxSnapshots, "max-snapshots", 256, "how many snapshots there may be")
	c.IdleTimeout, c.MaxLifetime, c.DrainTimeout = 10*time.Minute, 24*time.Hour, 30*time.Second
	fs.Var(&spanValue{d: &c.IdleTimeout, least: time.Second}, "idle-timeout", "close sessions that are not used for so long")
	fs.Var(&spanValue{d: &c.MaxLifetime, least: time.Second, none: true}, "max-lifetime", `close sessions that are so old; "none" for never`)
	fs.Var(&spanValue{d: &c.DrainTimeout}, "drain-timeout", "at the end, give runs under way so long")
	fs.StringVar(&c.LogLevel, "log-level", "info", "log what is at least this: debug, info, warn or error")
	fs.StringVar(&c.LogFormat, "log-format", logText, "log as text or json, to standard error")
	fs.StringVar(&c.OTLPEndpoint, "otlp-endpoint", "", "export traces and metrics by OTLP/HTTP to the collector at this `URL`")
}

// A ValueError is a value that cannot be used. Place is where in the file it stands, and empty for one of the command line.
type ValueError struct {
	Place, Key, Problem string
}

// Error implements error.
func (e *ValueError) Error() string {
	if e.Place == "" {
		return fmt.Sprintf("--%s: %s", e.Key, e.Problem)
	}
	return fmt.Sprintf("%s: %s: %s", e.Place, e.Key, e.Problem)
}

func (c *Config) wrong(key, format string, args ...any) error {
	return &ValueError{c.places[key], key, fmt.Sprintf(format, args...)}
}

// check finds what cannot be used in the values, without looking at any file.
func (c *Config) check() error {
	for _, step := range []func() error{c.checkAddresses, c.checkBackends, c.checkCredentials, c.checkNumbers, c.checkLog, c.checkBrowsers} {
		if err := step(); err != nil {
			return err
		}
	}
	if c.StateDir == "" {
		return c.wrong("state-dir", "is empty")
	}
	dir, err := filepath.Abs(c.StateDir)
	c.StateDir = dir
	return err
}

func (c *Config) checkAddresses() error {
	if len(c.Listen) == 0 {
		return c.wrong("listen", "is empty")
	}
	for i, a := range c.Listen {
		if err := checkAddress(a); err != nil && a != fromSystemd {
			return c.wrong("listen", "%q: %v", a, err)
		}
		if slices.Contains(c.Listen[:i], a) && !strings.HasSuffix(a, ":0") {
			return c.wrong("listen", "%q is there twice", a)
		}
	}
	if c.AdminListen == "" {
		return nil
	}
	if err := checkAddress(c.AdminListen); err != nil {
		return c.wrong("admin-listen", "%q: %v", c.AdminListen, err)
	}
	return nil
}

func checkAddress(a string) error {
	if path, ok := strings.CutPrefix(a, "unix:"); ok {
		if !filepath.IsAbs(path) {
			return errors.New("the path of a unix socket is absolute")
		}
		return nil
	}
	if _, port, err := net.SplitHostPort(a); err != nil || port == "" {
		return errors.New("is neither host:port nor unix:/path")
	}
	return nil
}

func (c *Config) checkBackends() error {
	if len(c.Backend) == 0 {
		return c.wrong("backend", "is empty")
	}
	for i, b := range c.Backend {
		switch {
		case !slices.Contains(native.Backends(), native.Backend(b)):
			return c.wrong("backend", "%q is not a backend; there are %v", b, native.Backends())
		case slices.Contains(c.Backend[:i], b):
			return c.wrong("backend", "%q is there twice", b)
		}
	}
	return nil
}

func (c *Config) checkCredentials() error {
	for _, need := range []struct{ key, value, other, otherValue string }{
		{"tls-cert", c.TLSCert, "tls-key", c.TLSKey},
		{"tls-key", c.TLSKey, "tls-cert", c.TLSCert},
		{"client-ca", c.ClientCA, "certificates", c.Certificates},
		{"certificates", c.Certificates, "client-ca", c.ClientCA},
		{"client-ca", c.ClientCA, "tls-cert", c.TLSCert},
	} {
		if need.value != "" && need.otherValue == "" {
			return c.wrong(need.key, "needs %s as well", need.other)
		}
	}
	return nil
}

func (c *Config) checkNumbers() error {
	for _, n := range []struct {
		key          string
		value, least int
	}{
		{"max-sessions", c.MaxSessions, 1},
		{"max-runs", c.MaxRuns, 1},
		{"max-queued", c.MaxQueued, 0},
		{"max-snapshots", c.MaxSnapshots, 1},
	} {
		if n.value < n.least {
			return c.wrong(n.key, "%d is less than %d", n.value, n.least)
		}
	}
	return nil
}

func (c *Config) checkLog() error {
	if _, err := c.level(); err != nil {
		return err
	}
	if c.LogFormat != logText && c.LogFormat != logJSON {
		return c.wrong("log-format", "%q is neither %s nor %s", c.LogFormat, logText, logJSON)
	}
	return nil
}

func (c *Config) level() (slog.Level, error) {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(l.String(), c.LogLevel) {
			return l, nil
		}
	}
	return 0, c.wrong("log-level", "%q is none of debug, info, warn and error", c.LogLevel)
}

func (c *Config) checkBrowsers() error {
	_, err := server.NewBrowserGuard(c.browser())
	invalid, ok := errors.AsType[*engine.InvalidError](err)
	switch {
	case !ok:
		return err
	case strings.HasPrefix(invalid.Field, "Hosts"):
		return c.wrong("allow-host", "%s", invalid.Problem)
	}
	return c.wrong("allow-origin", "%s", invalid.Problem)
}

func (c *Config) browser() *server.BrowserOptions {
	return &server.BrowserOptions{Hosts: c.AllowHost, Origins: c.AllowOrigin}
}

// limits are those of the server.
func (c *Config) limits() server.Limits {
	l := server.Limits{Sessions: c.MaxSessions, Runs: c.MaxRuns, QueuedRuns: c.MaxQueued, Snapshots: c.MaxSnapshots}
	if l.QueuedRuns == 0 {
		l.QueuedRuns = -1 // zero would be the default
	}
	return l
}
