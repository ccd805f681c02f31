package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/pflag"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/native"
)

// serverFlags say which server is used in the place of this machine.
type serverFlags struct {
	url       string
	tokenFile string
	caFile    string
}

// The variables that stand for flags that are not given.
const (
	envServer    = "SANDBAR_SERVER"
	envTokenFile = "SANDBAR_TOKEN_FILE"
)

func (f *serverFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.url, "server", os.Getenv(envServer), "use the sandbox-server at this `URL`: http://host:port, https://host:port or unix:///path (default $"+envServer+")")
	fs.StringVar(&f.tokenFile, "token-file", os.Getenv(envTokenFile), "send the token in this `file` to the server (default $"+envTokenFile+")")
	fs.StringVar(&f.caFile, "ca-file", "", "trust the certificates of this `file` alone")
	for _, name := range []string{"server", "token-file"} {
		fs.Lookup(name).DefValue = "" // help says the same whatever the variable has
	}
}

// set reports whether a server is to be used.
func (f *serverFlags) set() bool { return f.url != "" }

// client makes a client for the server. The caller closes it.
func (f *serverFlags) client() (*remote.Client, error) {
	if !f.set() {
		return nil, usageErrorf("no server given: want --server URL, or the variable %s", envServer)
	}
	opts := &remote.ClientOptions{}
	var err error
	if f.tokenFile != "" {
		if opts.Token, err = readToken(f.tokenFile); err != nil {
			return nil, err
		}
	}
	if f.caFile != "" {
		if opts.TLS, err = trusting(f.caFile); err != nil {
			return nil, err
		}
	}
	c, err := remote.NewClient(f.url, opts)
	if err != nil {
		return nil, engineError(err)
	}
	return c, nil
}

// maxToken is the length of the longest line that is read as a token, in bytes.
const maxToken = 4096

// readToken reads the first line of a file: what `sandbox-server token` prints.
func readToken(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", usageErrorf("--token-file: open %s: %w", path, cause(err))
	}
	defer file.Close()
	line, err := bufio.NewReader(io.LimitReader(file, maxToken)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", usageErrorf("--token-file: read %s: %w", path, cause(err))
	}
	token := strings.TrimSpace(line)
	if token == "" {
		return "", usageErrorf("--token-file: %s has no token in its first line", path)
	}
	return token, nil
}

func trusting(path string) (*tls.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usageErrorf("--ca-file: open %s: %w", path, cause(err))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, usageErrorf("--ca-file: %s has no certificate in PEM", path)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, nil
}

// placeOnServer is where a session of a server comes from.
type placeOnServer struct {
	serverFlags
	// session is one that is there; empty: a new one.
	session string
	// keep leaves a new one there.
	keep bool
}

// open opens the session of a server. Backend is empty for the server's default. The caller closes the sandbox.
func (p *placeOnServer) open(ctx context.Context, opts *engine.Options, backend native.Backend) (*sandbox, error) {
	client, err := p.client()
	if err != nil {
		return nil, err
	}
	box := &sandbox{drivers: []io.Closer{client}, client: client, kept: p.keep}
	if p.session != "" {
		box.Session, err = client.Attach(ctx, p.session)
	} else {
		box.Session, err = client.Open(ctx, &remote.SessionOptions{Options: *opts, Backend: string(backend)})
	}
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return box, nil
}

// tellKept says how to find a session again.
func (p *placeOnServer) tellKept(box *sandbox, stderr io.Writer) {
	if p.keep {
		fmt.Fprintf(stderr, "sandbar: session %s is left on the server\n", box.ID())
	}
}

// ask makes a call of the protocol. Its error is for the exit code.
func ask[Q, A any](ctx context.Context, call func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), req *Q) (*A, error) {
	answer, err := call(ctx, connect.NewRequest(req))
	if err != nil {
		return nil, engineError(wire.FromError(err))
	}
	return answer.Msg, nil
}
