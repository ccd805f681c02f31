// Command sandbar runs scripts in a sandbox.
//
//	sandbar run hello.py          a Python script, in a fresh interpreter
//	sandbar run build.sh          a shell script, in namespaces of its own
//	sandbar shell                 an interactive shell in a sandbox
//	sandbar run -c 'print(2+2)'   from the command line
//	sandbar run - <hello.py       from standard input
//	sandbar version
//	sandbar help
//
// A run's exit code is the script's own, except for those that Exit codes of `sandbar run --help` lists.
package main

import (
	"os"
)

func main() {
	os.Exit(execute(os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// stdio are the standard streams of this process.
type stdio struct {
	in, out, err *os.File
}
