package main

import (
	"context"
	"fmt"
	"io"

	"github.com/sandbar-dev/sandbar"
)

// The README of the project shows what follows.

// both lets a shell script, which runs as a process in namespaces of its own, write a file, and a Python script, which
// runs in this process, read it.
func both(ctx context.Context, w io.Writer) error {
	session, err := sandbar.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer session.Close()

	_, err = session.RunCode(ctx, "seq 3 > numbers.txt", &sandbar.RunOptions{Type: sandbar.Shell})
	if err != nil {
		return err
	}
	sum, err := session.RunCode(ctx, "print(sum(map(int, open('numbers.txt'))))", nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the sum is %s", sum)
	return nil
}
