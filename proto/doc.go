// Package proto holds the protocol of sandbox-server: sandbox/v2/sandbox.proto, and in gen what buf makes of it.
package proto

//go:generate go tool -modfile=../tools/go.mod buf generate
