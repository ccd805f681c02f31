// Package differential runs the same scripts through the wasm tier and through both backends of the native tier that
// isolate, and wants the same from each: the bytes on stdout, the exit code, the exception that ended the script, and
// the files that it leaves. It also tests that one session's tiers work in one directory. See README.md.
package differential
