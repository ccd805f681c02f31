package server

import (
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// A client that sends half a file holds the read of its body. When the session is closed meanwhile, the call ends, and with it the
// read: one that goes on afterwards uses what belongs to the request of somebody else, or to nobody.
func TestServer_SessionClosedDuringPut(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	c := s.client(t, "a")
	for range 20 {
		id := openOne(t, c)
		stream := c.PutFile(t.Context())
		for _, m := range []*sandboxv2.PutFileRequest{
			{Part: &sandboxv2.PutFileRequest_Header{Header: &sandboxv2.PutFileHeader{SessionId: id, Path: "f"}}},
			{Part: &sandboxv2.PutFileRequest_Data{Data: []byte("half")}},
		} {
			if err := stream.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Millisecond) // most often enough for the server to be in the read
		must(t, c.CloseSession, &sandboxv2.CloseSessionRequest{SessionId: id})
		if _, err := stream.CloseAndReceive(); connect.CodeOf(err) != connect.CodeFailedPrecondition && connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("put into a session that was closed: %v", err)
		}
	}
}
