// Package daemon makes a program of package server: its command line and configuration, the state directory, who may come in
// by which listener, the report at the start, and the end in good order. The commands sandbox-server and `sandbar serve` are
// this package under two names.
package daemon
