// Command client runs scripts in a session of a sandbox-server: the same Session as in process, over a network.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
)

func main() {
	server := flag.String("server", "http://127.0.0.1:8700", "URL of the server")
	tokenFile := flag.String("token-file", "", "file with the token")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *server, *tokenFile); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// run opens a session, which the server closes too when this program dies, and shows what it can.
func run(ctx context.Context, w io.Writer, server, tokenFile string) error {
	opts := &remote.Options{}
	if tokenFile != "" {
		token, err := remote.ReadToken(tokenFile)
		if err != nil {
			return err
		}
		opts.Token = token
	}
	opts.Label = "example"
	opts.Limits.Memory = 256 << 20
	session, err := remote.Open(ctx, server, opts)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, part := range []func(context.Context, io.Writer, *engine.Session) error{files, stream, deadline, failure, reference} {
		if err := part(ctx, w, session); err != nil {
			return err
		}
	}
	return nil
}

// files are the session's, on the server.
func files(ctx context.Context, w io.Writer, session *engine.Session) error {
	if err := session.PutBytes(ctx, "names.txt", []byte("Ada\nGrace\n"), nil); err != nil {
		return err
	}
	out, err := session.RunCode(ctx, "print(sorted(open('names.txt').read().split(), key=len))", nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "files: %s", out)
	return nil
}

// stream has each line when the script writes it.
func stream(ctx context.Context, w io.Writer, session *engine.Session) error {
	p, err := session.Run(ctx, "import time\nfor i in range(3):\n    print(i * i)\n    time.sleep(0.01)", nil)
	if err != nil {
		return err
	}
	for line := range p.StdoutLines() {
		fmt.Fprintf(w, "stream: %s\n", line)
	}
	result, err := p.Wait(ctx)
	if err != nil {
		return err // engine.ErrLost when the connection broke: there is no exit code then
	}
	fmt.Fprintf(w, "stream: %s, exit code %d\n", result.Reason, result.ExitCode)
	return nil
}

// deadline ends a run at its timeout, and what it wrote before is here.
func deadline(ctx context.Context, w io.Writer, session *engine.Session) error {
	script := "print('searching')\nwhile True: pass"
	out, err := session.Exec(ctx, script, &engine.RunOptions{Timeout: 300 * time.Millisecond})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "deadline: %q, then %s\n", out.Stdout, out.Result.Reason)
	return nil
}

// failure has the same errors as in process.
func failure(ctx context.Context, w io.Writer, session *engine.Session) error {
	_, err := session.GetBytes(ctx, "absent.txt", 1<<20)
	fmt.Fprintf(w, "failure: ErrNotExist: %t\n", errors.Is(err, engine.ErrNotExist))
	_, err = session.Exec(ctx, "print()", &engine.RunOptions{Cwd: "../etc"})
	fmt.Fprintf(w, "failure: ErrInvalid: %t\n", errors.Is(err, engine.ErrInvalid))
	return nil
}

// reference lets another program use the session, as long as this one has it.
func reference(_ context.Context, w io.Writer, session *engine.Session) error {
	ref, err := session.Reference()
	if err != nil {
		return err
	}
	text, err := json.Marshal(ref)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	fmt.Fprintf(w, "reference: network_mode %v, %d fields\n", fields["network_mode"], len(fields))
	return nil
}
