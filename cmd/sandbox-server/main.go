// Command sandbox-server offers sandboxes to other programs, over Connect, gRPC and gRPC-Web.
//
//	sandbox-server                              for this machine, on port 8700
//	sandbox-server --listen unix:/run/user/1000/sandbar.sock
//	sandbox-server --config /etc/sandbar/server.yaml
//	sandbox-server token NAME                   a token for the file of --tokens
//	sandbox-server check-config --config FILE
//
// `sandbar serve` is the same.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/sandbar-dev/sandbar/internal/daemon"
)

func main() {
	cmd := daemon.NewCommand("sandbox-server", &daemon.Program{
		Version: version(), Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	err := cmd.Execute()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-server:", err)
	}
	os.Exit(daemon.ExitCode(err))
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
