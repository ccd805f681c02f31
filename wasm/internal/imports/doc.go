// Package imports decides whether a Python script can run in the wasm tier, before any of it has run.
//
// The guest reads the script and writes what it found: imports, and uses of names that imports bind (Decode). Decide
// follows the imports as CPython would, through the files of the work directory and of a virtual environment, and
// stops at the first thing that the tier does not have: an Obstacle. The tables of this package say what that is, and
// why (Table).
//
// Findings, files and their names come from hostile scripts. Nothing here runs, opens or prints them, and the work
// that a decision takes is bounded. The package imports nothing of the tier but the names of its standard library.
package imports
