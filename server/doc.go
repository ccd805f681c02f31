// Package server offers sessions to other programs: the service of proto/sandbox/v2 over Connect, gRPC and gRPC-Web. It
// is the contract of package engine over a network, with what a network adds: who may do what, how long an unused session
// lives, how much is admitted at a time, and what becomes of a run whose client goes away.
//
// It knows no tier. A program gives it a Host, which opens sessions, and serves its Handler: see NewHTTP for a server with
// the settings that the promises need. cmd/sandbox-server is such a program.
// Package console is a page of it for a browser, which HandlerOptions.Console switches on.
package server
