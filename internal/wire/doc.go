// Package wire translates between the types of package engine and the messages of sandbox.v2, in both directions: a server
// and a Go client use the same tables.
//
// A function with the name of a type makes the message; its twin, whose name begins with To, makes the Go value. What a
// server gets from a client is hostile: ToOptions and ToRun refuse what they cannot represent with an
// *engine.InvalidError, which names the field as the Go option is called, and leave to the engine what it checks itself.
// What a client gets from a server is never refused: a number that this version does not know becomes a text that says so.
//
// All functions are safe for concurrent use. They keep no reference to what they are given, but for bytes: those of a
// message, of a script or of an argument may be shared with the result, and must not change afterwards.
package wire
