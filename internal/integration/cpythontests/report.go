package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// line is a module in one line.
func (r *moduleResult) line() string {
	s := fmt.Sprintf("%-18s %5d tests %5d passed %4d failed %4d skipped", r.Module, r.Total, r.Passed, len(r.Failures), len(r.Skipped))
	if r.Problem != "" {
		s += "  " + r.Problem
	}
	return s
}

// writeTable writes the results as Markdown: a table of the modules, and each failure with its reason.
func writeTable(w io.Writer, results []*moduleResult) {
	fmt.Fprintln(w, "| module | tests | passed | failed | skipped |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|")
	var tests, passed, failed, skipped int
	for _, r := range results {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d |\n", r.Module, r.Total, r.Passed, len(r.Failures), len(r.Skipped))
		tests += r.Total
		passed += r.Passed
		failed += len(r.Failures)
		skipped += len(r.Skipped)
	}
	fmt.Fprintf(w, "| **all** | %d | %d | %d | %d |\n", tests, passed, failed, skipped)
	for _, r := range results {
		if r.failed() {
			fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(r.Module+" "+r.Problem))
		}
		for _, f := range r.Failures {
			fmt.Fprintf(w, "- `%s`: %s\n", strings.TrimPrefix(f.Test, "test."+r.Module+"."), f.Text)
		}
	}
}

// lastLine is the last line that says something.
func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}
