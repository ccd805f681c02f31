package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"os/exec"
	"path"
	"strconv"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm"
)

//go:embed cpu/*.py
var cpuFiles embed.FS

// cpuScript computes for some tenths of a second, and prints the seconds that it took.
type cpuScript struct {
	name string
	code []byte
}

func cpuScripts() ([]cpuScript, error) {
	names, err := fs.Glob(cpuFiles, "cpu/*.py")
	if err != nil {
		return nil, err
	}
	var scripts []cpuScript
	for _, name := range names {
		code, err := cpuFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, cpuScript{strings.TrimSuffix(path.Base(name), ".py"), code})
	}
	return scripts, nil
}

// placements is in how many drivers the tier runs the scripts, in turn. Where the compiled code lies in
// memory decides on up to a third of its speed, and is chance.
const placements = 4

// cpuTimes is what a script measured itself, and the processor time of all of its run.
type cpuTimes struct{ wall, cpu float64 }

// least is the better of two measurements, in each figure.
func (t cpuTimes) least(u cpuTimes) cpuTimes { return cpuTimes{min(t.wall, u.wall), min(t.cpu, u.cpu)} }

// cpuSuite compares Python code that computes, in the tier and natively. Each script prints the best of
// three; of the rounds the best counts, so that a busy neighbour does not.
func cpuSuite(ctx context.Context, s *settings, r *report) (err error) {
	var sessions []*engine.Session
	for range placements {
		d := wasm.New(nil)
		defer also(&err, d.Close)
		session, err := d.Open(ctx, nil)
		if err != nil {
			return err
		}
		defer also(&err, session.Close)
		sessions = append(sessions, session)
	}
	scripts, err := cpuScripts()
	if err != nil {
		return err
	}
	t := table{Title: "Python code that computes", Header: []string{"wasm ms", "native ms", "ratio", "ratio of CPU time"}}
	for _, script := range scripts {
		tier := cpuTimes{math.Inf(1), math.Inf(1)}
		native := tier
		for round := range max(1, s.rounds/20) {
			got, err := inTier(ctx, sessions[round%placements], script.code)
			if err != nil {
				return fmt.Errorf("%s in the tier: %w", script.name, err)
			}
			tier = tier.least(got)
			if got, err = natively(ctx, s.native, script.code); err != nil {
				return fmt.Errorf("%s: %w", script.name, err)
			}
			native = native.least(got)
		}
		line := pair(script.name, tier.wall, native.wall)
		line.Values = append(line.Values, figure(tier.cpu/native.cpu))
		t.Rows = append(t.Rows, line)
	}
	t.Rows = append(t.Rows, geometricMean(t.Rows))
	r.table(t)
	return nil
}

// pair is a row of two times in seconds and how the first compares to the second.
func pair(name string, a, b float64) row {
	return row{name, []figure{figure(a * 1e3), figure(b * 1e3), figure(a / b)}}
}

// geometricMean is a row of the mean of each column; the mean of ratios is then the ratio of means.
func geometricMean(rows []row) row {
	mean := row{"geometric mean", make([]figure, len(rows[0].Values))}
	for i := range mean.Values {
		var sum float64
		for _, row := range rows {
			sum += math.Log(float64(row.Values[i]))
		}
		mean.Values[i] = figure(math.Exp(sum / float64(len(rows))))
	}
	return mean
}

func inTier(ctx context.Context, session *engine.Session, code []byte) (t cpuTimes, err error) {
	out, err := session.Exec(ctx, string(code), nil)
	if err != nil {
		return t, err
	}
	if out.Result.ExitCode != 0 {
		return t, fmt.Errorf("%s, exit code %d: %s", out.Result.Reason, out.Result.ExitCode, out.Stderr)
	}
	t.cpu = math.NaN()
	if out.Result.CPUTime != engine.Unknown {
		t.cpu = out.Result.CPUTime.Seconds()
	}
	t.wall, err = seconds(out.Stdout)
	return t, err
}

func natively(ctx context.Context, python string, code []byte) (t cpuTimes, err error) {
	cmd := exec.CommandContext(ctx, python, "-I", "-")
	cmd.Stdin = bytes.NewReader(code)
	out, err := cmd.Output()
	if err != nil {
		return t, err
	}
	t.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	t.wall, err = seconds(out)
	return t, err
}

func seconds(out []byte) (float64, error) {
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}
