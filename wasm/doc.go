// Package wasm is the Python tier: CPython for WASI, run by wazero in the process of the caller. It is a
// driver for package engine.
//
// What costs time is done once: the interpreter is compiled and started once per machine and kept, as
// machine code and as an image of its linear memory, in a cache folder. A run gets an instance whose
// memory is a copy-on-write copy of that image; after a run that ended by itself every byte is put back
// to the image and the instance serves again, and after any other run it is thrown away.
package wasm
