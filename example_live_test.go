package sandbar_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/sandbar-dev/sandbar"
)

// A session can keep an interpreter: what one run defines, the next one finds.
func ExampleOpen_liveInterpreter() {
	ctx := context.Background()
	session, err := sandbar.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	live := &sandbar.RunOptions{Interpreter: sandbar.InterpreterSession}
	for _, cell := range []string{"import math\nr = 2", "print('area')\nround(math.pi * r**2, 2)", "1 / 0", "r"} {
		out, err := session.Exec(ctx, cell, live)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q, value %s, exit code %d\n", out.Stdout, out.Result.Value, out.Result.ExitCode)
	}
	// Output:
	// "", value , exit code 0
	// "area\n", value 12.57, exit code 0
	// "", value , exit code 1
	// "", value 2, exit code 0
}

// A snapshot is a copy of a session, from which others are opened. It can be stored meanwhile.
func ExampleReadSnapshot() {
	ctx := context.Background()
	session, err := sandbar.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	live := &sandbar.RunOptions{Interpreter: sandbar.InterpreterSession}
	if _, err := session.Exec(ctx, "words = ['to', 'be']; open('note.txt', 'w').write('kept')", live); err != nil {
		log.Fatal(err)
	}

	snapshot, err := session.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := snapshot.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	_ = snapshot.Close()

	stored, err := sandbar.ReadSnapshot(ctx, &file, 1<<30)
	if err != nil {
		log.Fatal(err)
	}
	defer stored.Close()
	for _, word := range []string{"or", "not"} {
		branch, err := sandbar.Open(ctx, &sandbar.Options{From: stored})
		if err != nil {
			log.Fatal(err)
		}
		out, err := branch.Exec(ctx, fmt.Sprintf("words.append(%q); words, open('note.txt').read()", word), live)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out.Result.Value)
		_ = branch.Close()
	}
	// Output:
	// (['to', 'be', 'or'], 'kept')
	// (['to', 'be', 'not'], 'kept')
}
