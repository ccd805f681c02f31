//go:build !linux

package server

import "syscall"

// userTimeout does nothing: where there is no such setting, the kernel's retransmissions end a connection, in a quarter of an hour.
func userTimeout(string, string, syscall.RawConn) error { return nil }
