package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
)

//go:embed guest.py
var guest string

// limits are in time: of all runs of a module, and of one test.
type limits struct{ module, test time.Duration }

// A testFailure is a test that did not pass, and why.
type testFailure struct {
	Test string `json:"test"`
	Text string `json:"text"`
}

// A moduleResult is what became of the tests of a module.
type moduleResult struct {
	Module   string        `json:"module"`
	Total    int           `json:"total"`
	Passed   int           `json:"passed"`
	Failures []testFailure `json:"failures,omitempty"`
	Skipped  []testFailure `json:"skipped,omitempty"`
	// Problem says why the module as a whole was not run, or not to its end.
	Problem string `json:"problem,omitempty"`
}

func (r *moduleResult) failed() bool { return r.Problem != "" || len(r.Failures) > 0 }

// An event is a line that guest.py writes.
type event struct {
	Event, Test, Text string
}

const resultsFile = "results.jsonl"

// runModule runs a module in as many runs as it takes: a test that ended the interpreter, or did not end,
// has failed, and the next run goes on after it.
func runModule(ctx context.Context, tests, name string, l limits) (_ *moduleResult, err error) {
	session, err := sandbar.Open(ctx, &engine.Options{
		PythonTier: engine.TierWasm, ReadOnly: []string{tests}, MaxOutput: 1 << 20, Timeout: l.module,
		Limits: engine.Limits{Memory: 2 << 30, Tmp: 512 << 20, TmpFiles: 1 << 16, OpenFiles: 1024},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	var log []byte
	problem, known := "", 0
	for deadline := time.Now().Add(l.module); ; {
		result, stderr, err := runOnce(ctx, session, tests, name, l.test)
		if err != nil {
			return nil, err
		}
		if log, err = results(ctx, session); err != nil {
			return nil, err
		}
		events := parse(log)
		if ended(events) {
			break
		}
		last, progress := unfinished(events), len(events) > known
		known = len(events)
		if !progress || time.Now().After(deadline) {
			problem = fmt.Sprintf("%s, code %d: %s", result.Reason, result.ExitCode, lastLine(stderr))
			break
		}
		if last == "" {
			continue // it broke between two tests
		}
		line, err := json.Marshal(map[string]string{"event": "fail", "test": last, "text": fmt.Sprintf("ended the run: %s, code %d", result.Reason, result.ExitCode)})
		if err != nil {
			return nil, err
		}
		log = append(append(log, line...), '\n')
		if err := session.PutBytes(ctx, resultsFile, log, nil); err != nil {
			return nil, err
		}
	}
	r := count(name, parse(log))
	if problem != "" {
		r.Problem = problem
	}
	return r, nil
}

// runOnce starts guest.py and ends it when no test has ended for the time of one.
func runOnce(ctx context.Context, session *engine.Session, tests, name string, stuck time.Duration) (engine.Result, []byte, error) {
	p, err := session.Run(ctx, guest, &engine.RunOptions{Name: "guest.py", Args: []string{filepath.ToSlash(tests), name}})
	if err != nil {
		return engine.Result{}, nil, err
	}
	watch := time.NewTicker(stuck / 4)
	defer watch.Stop()
	size, since := int64(-1), time.Now()
	for {
		select {
		case <-p.Done():
			out, err := p.Communicate(ctx, nil)
			if err != nil {
				return engine.Result{}, nil, err
			}
			return out.Result, out.Stderr, nil
		case <-watch.C:
			info, err := session.Stat(ctx, resultsFile)
			if err == nil && info.Size != size {
				size, since = info.Size, time.Now()
			}
			if time.Since(since) > stuck {
				p.Kill()
			}
		}
	}
}

// results is what guest.py wrote: nothing, if it did not come so far.
func results(ctx context.Context, session *engine.Session) ([]byte, error) {
	log, err := session.GetBytes(ctx, resultsFile, 64<<20)
	if errors.Is(err, engine.ErrNotExist) {
		return nil, nil
	}
	return log, err
}

func parse(log []byte) []event {
	var events []event
	for line := range bytes.Lines(log) {
		var e event
		if json.Unmarshal(line, &e) == nil { // the last line may be cut
			events = append(events, e)
		}
	}
	return events
}

// ended tells whether the module was run to its end.
func ended(events []event) bool {
	for _, e := range events {
		switch e.Event {
		case "done", "module skipped", "module failed":
			return true
		}
	}
	return false
}

// unfinished is the test that began last, if it did not end.
func unfinished(events []event) string {
	last := ""
	for _, e := range events {
		switch e.Event {
		case "start":
			last = e.Test
		case "pass", "fail", "skip":
			last = ""
		}
	}
	return last
}

// count adds the events up.
func count(name string, events []event) *moduleResult {
	r := &moduleResult{Module: name}
	for _, e := range events {
		f := testFailure{e.Test, e.Text}
		switch e.Event {
		case "total":
			if r.Total == 0 {
				_, _ = fmt.Sscan(e.Text, &r.Total)
			}
		case "pass":
			r.Passed++
		case "fail":
			r.Failures = append(r.Failures, f)
		case "skip":
			r.Skipped = append(r.Skipped, f)
		case "module failed", "module skipped":
			r.Problem = e.Event + ": " + e.Text
		}
	}
	return r
}
