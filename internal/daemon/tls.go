package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// tlsFiles are the files of TLS, read anew when one of them changes. Files that cannot be used leave what they said before in
// force. Its methods may be called by several goroutines at once.
type tlsFiles struct {
	cert, key, clientCA string // clientCA may be empty
	demand              bool   // connections without a client certificate are refused
	log                 *slog.Logger

	mu      sync.Mutex
	config  *tls.Config
	seen    []fs.FileInfo
	settled bool
	next    time.Time
	problem string
}

const (
	// tlsWatch is how often the files are looked at when connections come.
	tlsWatch = time.Second
	// tlsSettled is how old a change must be for a file's time to tell the next one apart.
	tlsSettled = 3 * time.Second
)

// openTLS reads the files for the first time.
func openTLS(c *Config, log *slog.Logger) (*tlsFiles, error) {
	t := &tlsFiles{cert: c.TLSCert, key: c.TLSKey, clientCA: c.ClientCA, demand: c.Tokens == "", log: log}
	if err := t.read(); err != nil {
		return nil, err
	}
	return t, nil
}

// server is the configuration for an http.Server.
func (t *tlsFiles) server() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return t.current(), nil },
	}
}

// current is the configuration of a connection. It looks at the files at most once a second.
func (t *tlsFiles) current() *tls.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); !now.Before(t.next) {
		t.next = now.Add(tlsWatch)
		t.look()
	}
	return t.config
}

// look reads the files if they are not what was read last. mu is held.
func (t *tlsFiles) look() {
	seen, err := t.stat()
	changed := err == nil && !sameFiles(seen, t.seen)
	if err == nil && !changed && t.settled {
		return
	}
	if err == nil {
		err = t.read()
	}
	switch {
	case err == nil:
		if changed || t.problem != "" {
			t.log.Info("TLS files read again", "cert", t.cert)
		}
		t.problem = ""
	case err.Error() != t.problem: // once for each problem, and not every second
		t.problem = err.Error()
		t.log.Error("TLS files not usable, what they said before stays in force", "err", err)
	}
}

func (t *tlsFiles) paths() []string {
	all := []string{t.cert, t.key}
	if t.clientCA != "" {
		all = append(all, t.clientCA)
	}
	return all
}

func (t *tlsFiles) stat() ([]fs.FileInfo, error) {
	var all []fs.FileInfo
	for _, path := range t.paths() {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

func sameFiles(a, b []fs.FileInfo) bool {
	return slices.EqualFunc(a, b, func(a, b fs.FileInfo) bool {
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	})
}

// read makes the configuration of the files as they are.
func (t *tlsFiles) read() error {
	now := time.Now()
	seen, err := t.stat()
	if err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	t.seen, t.settled = seen, true // of files that are not usable too: they are not read again until they change
	for _, info := range seen {
		t.settled = t.settled && now.Sub(info.ModTime()) > tlsSettled
	}
	pair, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return fmt.Errorf("TLS certificate %s with key %s: %w", t.cert, t.key, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if t.clientCA != "" {
		if err := t.clients(config); err != nil {
			return err
		}
	}
	t.config = config
	return nil
}

// clients has clients show certificates.
func (t *tlsFiles) clients(config *tls.Config) error {
	text, err := os.ReadFile(t.clientCA)
	if err != nil {
		return fmt.Errorf("client authorities: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("client authorities %s: %w", t.clientCA, errors.New("has no certificate in PEM"))
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if t.demand {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	// A ticket would carry a client that an authority of before has vouched for over the change of the file.
	config.SessionTicketsDisabled = true
	return nil
}
