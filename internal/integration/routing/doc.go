// Package routingtests holds Python scripts of all kinds with the tier that each one runs in when Options.PythonTier is
// auto, why, and what becomes of it in a session that allows the wasm tier alone.
package routingtests
