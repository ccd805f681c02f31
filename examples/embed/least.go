package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sandbar-dev/sandbar"
)

// The README of the project shows what follows.

func least(ctx context.Context, w io.Writer) error {
	session, err := sandbar.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer session.Close()

	if err := session.PutBytes(ctx, "sales.csv", []byte("item,price\ntea,3\ncake,4\n"), nil); err != nil {
		return err
	}
	script := `
import csv
rows = list(csv.DictReader(open("sales.csv")))
print(sum(int(row["price"]) for row in rows))
`
	out, err := session.Exec(ctx, script, &sandbar.RunOptions{Timeout: 5 * time.Second})
	if err != nil {
		return err // it was not started, or its end is not known
	}
	// What the script itself did wrong is no error: it is in the result.
	fmt.Fprintf(w, "%s, exit code %d: %s", out.Result.Reason, out.Result.ExitCode, out.Stdout)
	return nil
}
