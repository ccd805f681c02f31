package sandbar_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sandbar-dev/sandbar"
)

func Example() {
	ctx := context.Background()
	s, err := sandbar.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	out, err := s.Exec(ctx, "print(2 + 2)", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s%s\n", out.Stdout, out.Result.Reason)
	// Output:
	// 4
	// exited
}

// Files go in and out of the session's work directory, where its scripts find them.
func Example_files() {
	ctx := context.Background()
	s, err := sandbar.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.PutBytes(ctx, "numbers.txt", []byte("1\n2\n3\n"), nil); err != nil {
		log.Fatal(err)
	}
	script := `
total = sum(int(line) for line in open("numbers.txt"))
with open("total.txt", "w") as f:
    print(total, file=f)
`
	if _, err := s.RunCode(ctx, script, nil); err != nil {
		log.Fatal(err)
	}
	total, err := s.GetBytes(ctx, "total.txt", 1024)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", total)
	// Output: 6
}

// A script that does not end is stopped, and what it wrote is there.
func Example_timeout() {
	ctx := context.Background()
	s, err := sandbar.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	out, err := s.Exec(ctx, "print('begun')\nwhile True: pass", &sandbar.RunOptions{Timeout: 200 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s%s %d\n", out.Stdout, out.Result.Reason, out.Result.ExitCode)
	// Output:
	// begun
	// timeout 124
}

// What the user's own code does wrong is an *ExitError of RunCode.
func Example_failure() {
	ctx := context.Background()
	s, err := sandbar.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	_, err = s.RunCode(ctx, "1 / 0", nil)
	var failed *sandbar.ExitError
	fmt.Println(errors.As(err, &failed), err)
	// Output: true script ended with exit code 1 (exited): ZeroDivisionError: division by zero
}

// A shell script writes a file, and a Python script reads it. It is compiled and not run: not every machine has the
// backend, and then the shell script is refused with engine.ErrNotAvailable.
func Example_shell() {
	ctx := context.Background()
	s, err := sandbar.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if _, err := s.RunCode(ctx, "seq 3 > numbers.txt", &sandbar.RunOptions{Type: sandbar.Shell}); err != nil {
		log.Fatal(err)
	}
	sum, err := s.RunCode(ctx, "print(sum(map(int, open('numbers.txt'))))", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", sum)
}

// Python runs where there is no backend, and under limits that the other tier could not hold here. Usage sums up.
func Example_usage() {
	ctx := context.Background()
	s, err := sandbar.Open(ctx, &sandbar.Options{Limits: sandbar.Limits{Memory: 128 << 20}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for i := range 3 {
		if _, err := s.RunCode(ctx, fmt.Sprintf("print(%d)", i), nil); err != nil {
			log.Fatal(err)
		}
	}
	u := s.Usage()
	fmt.Println(u.Runs, "runs,", u.StdoutBytes, "bytes,", u.PeakMemory < 128<<20, u.WallTime > 0)
	// Output: 3 runs, 6 bytes, true true
}
