package native_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// A shell script in a cell of the chosen backend. It is compiled and not run: not every machine has the backend.
func Example() {
	ctx := context.Background()
	driver, err := native.New(&native.Options{Backend: native.Userns})
	if err != nil {
		log.Fatal(err)
	}
	defer driver.Close()

	session, err := driver.Open(ctx, &engine.Options{Limits: engine.Limits{Processes: 64, Disk: 256 << 20}})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	if err := session.PutBytes(ctx, "hello.c", []byte("#include <stdio.h>\nint main() { puts(\"hello\"); }\n"), nil); err != nil {
		log.Fatal(err)
	}
	out, err := session.Exec(ctx, "gcc -o hello hello.c && ./hello", &engine.RunOptions{Type: engine.Shell, Timeout: 20 * time.Second})
	if err != nil {
		log.Fatal(err) // not started: a *native.StartError names the cause and the remedy
	}
	fmt.Printf("%s, exit code %d: %s", out.Result.Reason, out.Result.ExitCode, out.Stdout)
}
