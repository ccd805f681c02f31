package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// connectRequest is a request of the generated client.
func connectRequest[M any](m *M) *connect.Request[M] { return connect.NewRequest(m) }

// shellRun is the request of a shell run.
func shellRun(session, script string) *sandboxv2.RunRequest {
	return &sandboxv2.RunRequest{SessionId: session, Type: sandboxv2.ScriptType_SCRIPT_TYPE_SHELL, Script: script}
}

// overHTTP1 as a protocol of clientChild: anything else is HTTP/2.
const viaHTTP1, viaHTTP2 = "http1", "http2"

// clientChild is the process of a client that is going to be cut off. It opens a number of sessions by a URL, starts a script in
// each, and waits for the ends. It says "session ID" for each that has begun, and "all".
func clientChild(args []string) error {
	url, protocol, script := args[0], args[1], args[3]
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	c, err := remote.NewClient(url, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	ended := make(chan error, n)
	for range n {
		s, err := c.RPC().OpenSession(ctx, connectRequest(&sandboxv2.OpenSessionRequest{Options: &sandboxv2.SessionOptions{Backend: "userns"}}))
		if err != nil {
			return err
		}
		id := s.Msg.GetSession().GetSessionId()
		begun := make(chan struct{})
		go func() { ended <- watchRun(ctx, c, url, protocol, shellRun(id, script), begun) }()
		select {
		case <-begun:
			say("session", id)
		case err := <-ended:
			return err
		}
	}
	say("all")
	return <-ended
}

// watchRun makes a run and reads what comes of it.
func watchRun(ctx context.Context, c *remote.Client, url, protocol string, m *sandboxv2.RunRequest, begun chan<- struct{}) error {
	if protocol == viaHTTP1 {
		return watchHTTP1(url, m, begun)
	}
	stream, err := c.RPC().Run(ctx, connectRequest(m))
	if err != nil {
		return err
	}
	if !stream.Receive() {
		return errors.Join(errors.New("no event"), stream.Err())
	}
	close(begun)
	for stream.Receive() {
	}
	return stream.Err()
}

func watchHTTP1(url string, m *sandboxv2.RunRequest, begun chan<- struct{}) error {
	data, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	resp, err := http.Post(url+pathTo("Run"), "application/connect+proto", bytes.NewReader(envelope(0, data)))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		return err
	}
	close(begun)
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
