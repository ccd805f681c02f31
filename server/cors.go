package server

import "net/http"

// What pages of a listed origin may send and read. They are the headers of Connect and gRPC-Web, and Authorization. There is no
// Access-Control-Allow-Credentials: a token is sent by the page that has it, and not by a browser unasked.
const (
	allowedHeaders = "Authorization, Content-Type, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, X-Grpc-Web, X-User-Agent"
	exposedHeaders = "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin"
)

// isPreflight reports whether a browser asks what a page may do, before it does it.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

func preflight(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Allow-Methods", "GET, POST")
	header.Set("Access-Control-Allow-Headers", allowedHeaders)
	header.Set("Access-Control-Max-Age", "600")
}
