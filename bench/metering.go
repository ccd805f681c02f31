package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// meteringLine is a line of BenchmarkMetering. The units are in the order of the alphabet.
var meteringLine = regexp.MustCompile(`(?m)^BenchmarkMetering/(\w+?)(?:-\d+)?\s.*?([\d.]+) metered-ms\s+([\d.]+) plain-ms`)

// metering is the scripts of the cpu section in the interpreter as it was built and in the metered one,
// which is the only one that the library runs. The comparison is therefore in a benchmark inside wasm. It
// gives the processor time of a whole run.
func metering(ctx context.Context, s *settings, r *report) error {
	rounds := max(1, s.rounds/20)
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkMetering$", "-benchtime", fmt.Sprintf("%dx", rounds), "github.com/sandbar-dev/sandbar/wasm")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test: %w: %s", err, out)
	}
	rows, err := meteringRows(out)
	if err != nil {
		return err
	}
	r.table(table{
		Title:  "What metering costs",
		Header: []string{"metered ms", "as built ms", "ratio"},
		Rows:   append(rows, geometricMean(rows)),
	})
	return nil
}

// meteringRows reads what the benchmark printed.
func meteringRows(out []byte) (rows []row, err error) {
	for _, m := range meteringLine.FindAllSubmatch(out, -1) {
		metered, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return nil, err
		}
		plain, err := strconv.ParseFloat(string(m[3]), 64)
		if err != nil {
			return nil, err
		}
		rows = append(rows, pair(string(m[1]), metered/1e3, plain/1e3))
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no figures in the output of go test: %s", bytes.TrimSpace(out))
	}
	return rows, nil
}
