package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
)

// moved is the size of what is moved in one case, in bytes.
const moved = 1 << 30

// serve compares a session of a server over loopback, in a process of its own, with one in this process.
func serve(ctx context.Context, s *settings, r *report) (err error) {
	url, stop, err := startServer(ctx)
	if err != nil {
		return err
	}
	defer also(&err, stop)
	far, err := remote.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	defer also(&err, far.Close)
	near, err := sandbar.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer also(&err, near.Close)

	const turn = 10
	cases := []*competitor{
		{name: "in process", turn: turn, run: func() error { return execute(ctx, near) }},
		{name: "over loopback", turn: turn, away: true, run: func() error { return execute(ctx, far) }},
	}
	if err := compare(ctx, 2, s.rounds, cases); err != nil {
		return err
	}
	r.table(quantiles("A Python script by a server: print(2+2)", cases))
	r.note("over loopback a run takes %.3f ms more at p50", ms(cases[1].times.at(0.5)-cases[0].times.at(0.5)))
	if err := serverThroughput(ctx, s, r, near, far); err != nil {
		return err
	}
	return serverBytes(ctx, s, r, far)
}

// startServer builds the server and starts it on a port of loopback.
func startServer(ctx context.Context) (url string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "sandbar-bench-*")
	if err != nil {
		return "", nil, err
	}
	program := filepath.Join(dir, "sandbox-server")
	if err := command(ctx, "", "go", "build", "-o", program, "github.com/sandbar-dev/sandbar/cmd/sandbox-server")(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("build the server: %w", err), os.RemoveAll(dir))
	}
	cmd := exec.CommandContext(ctx, program, "--listen", "127.0.0.1:0", "--backend", "userns", "--state-dir", filepath.Join(dir, "state"))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop = func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		return errors.Join(cmd.Wait(), os.RemoveAll(dir))
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return url, stop, nil
		}
	}
	return "", nil, errors.Join(errors.New("the server does not say where it listens"), stop())
}

// serverThroughput is how many Python scripts a second come back.
func serverThroughput(ctx context.Context, s *settings, r *report, near, far *engine.Session) error {
	var cases []*contest
	for _, workers := range []int{1, 2, 8} {
		cases = append(cases,
			&contest{competitor: competitor{name: fmt.Sprintf("in process, %d at a time", workers), run: func() error { return execute(ctx, near) }}, workers: workers},
			&contest{competitor: competitor{name: fmt.Sprintf("over loopback, %d at a time", workers), away: true, run: func() error { return execute(ctx, far) }}, workers: workers})
	}
	for round := range 1 + max(2, s.rounds/10) {
		for _, c := range cases {
			if err := c.measure(ctx, round > 0); err != nil {
				return err
			}
		}
	}
	t := table{Title: "Python scripts a second by a server: print(2+2)", Header: []string{"runs", "runs/s", "runs/s, best"}}
	for _, c := range cases {
		t.Rows = append(t.Rows, row{c.name, []figure{figure(c.runs), perSecond(c.times.at(0.5)), perSecond(c.times.at(0))}})
	}
	r.table(t)
	return nil
}

// serverBytes is how quickly output and files move.
func serverBytes(ctx context.Context, s *settings, r *report, far *engine.Session) error {
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	cases := []*competitor{
		{name: "PutReader", away: true, run: func() error {
			return far.PutReader(ctx, "large", io.LimitReader(&repeat{block: block}, moved), nil)
		}},
		{name: "GetWriter", away: true, run: func() error { return far.GetWriter(ctx, "large", io.Discard, moved) }},
		{name: "stdout", away: true, run: func() error { return output(ctx, far) }},
	}
	if err := compare(ctx, 1, max(2, s.rounds/20), cases); err != nil {
		return err
	}
	t := table{Title: "A gibibyte over loopback", Header: []string{"times", "MB/s", "MB/s, best"}}
	for _, c := range cases {
		t.Rows = append(t.Rows, row{c.name, []figure{figure(len(c.times)), speed(c.times.at(0.5)), speed(c.times.at(0))}})
	}
	r.table(t)
	return far.Remove(ctx, "large")
}

func speed(d time.Duration) figure { return figure(moved / 1e6 / d.Seconds()) }

// output has a native script write, and reads it.
func output(ctx context.Context, far *engine.Session) error {
	p, err := far.Run(ctx, fmt.Sprintf("head -c %d /dev/zero", moved), &engine.RunOptions{Type: engine.Shell})
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, p.Stdout())
	if err == nil && n != moved {
		err = fmt.Errorf("%d bytes came", n)
	}
	return err
}

// repeat is a block without end.
type repeat struct {
	block []byte
	at    int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.block[r.at:])
	r.at = (r.at + n) % len(r.block)
	return n, nil
}
