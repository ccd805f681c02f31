package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/sandbar-dev/sandbar/server"
)

// A door is one listener with the HTTP server behind it.
type door struct {
	listener net.Listener
	http     *http.Server
	tls      bool
}

// String is the address as a client writes it.
func (d *door) String() string {
	addr := d.listener.Addr()
	switch {
	case addr.Network() == "unix":
		return "unix://" + addr.String()
	case d.tls:
		return "https://" + addr.String()
	}
	return "http://" + addr.String()
}

// serve blocks until the door is closed, which is no error.
func (d *door) serve() error {
	var err error
	if d.tls {
		err = d.http.ServeTLS(d.listener, "", "")
	} else {
		err = d.http.Serve(d.listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", d, err)
}

// listen opens the listeners of the configuration. The caller closes them.
func listen(ctx context.Context, c *Config, getenv func(string) string) (all []net.Listener, err error) {
	defer func() {
		if err != nil {
			closeAll(all)
		}
	}()
	for _, address := range c.Listen {
		if address != fromSystemd {
			l, err := server.Listen(ctx, address)
			if err != nil {
				return all, err
			}
			all = append(all, l)
			continue
		}
		passed, err := passedListeners(getenv)
		if err != nil {
			return all, err
		}
		for _, l := range passed {
			all = append(all, server.Adopt(l))
		}
	}
	return all, nil
}

func closeAll(list []net.Listener) {
	for _, l := range list {
		l.Close()
	}
}

// doors puts the server behind the listeners. It refuses those that everybody could come in by, and warns of what is weak.
func doors(c *Config, s *server.Server, a *access, w *watching, listeners []net.Listener, log *slog.Logger) ([]*door, error) {
	var files *tlsFiles
	if c.TLSCert != "" {
		var err error
		if files, err = openTLS(c, log); err != nil {
			return nil, err
		}
	}
	var all []*door
	for _, l := range listeners {
		guarded, who, err := a.guard(l)
		if err != nil {
			return nil, err
		}
		handler, err := s.Handler(&server.HandlerOptions{
			Browser: c.browser(), Authenticator: who, Console: c.Console, Connect: w.connect(),
		})
		if err != nil {
			return nil, err
		}
		d := &door{listener: guarded, http: server.NewHTTP(handler, log)}
		if files != nil && l.Addr().Network() != "unix" {
			d.tls, d.http.TLSConfig = true, files.server()
		}
		warnOf(c, d, log)
		all = append(all, d)
	}
	return all, nil
}

// warnOf tells what is weak about a door.
func warnOf(c *Config, d *door, log *slog.Logger) {
	if server.Loopback(d.listener) {
		return
	}
	if !d.tls {
		log.Warn("tokens, scripts and their output pass through the network in clear text: set tls-cert and tls-key, or put a proxy with TLS in front", "listener", d.String())
	}
	if len(c.AllowHost) == 0 {
		log.Warn("requests by the name or address of this machine are refused: set allow-host to those that clients use", "listener", d.String())
	}
}
