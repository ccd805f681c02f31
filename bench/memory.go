package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm"
)

// instances is how many more the memory section makes.
const instances = 64

// waiting stops in the middle, for its memory to be looked at.
const waiting = "print('here', flush=True)\ninput()\n"

// memory is what one more instance takes, beside the image that all share: one that waits in the middle
// of a trivial script, and one that is idle after it.
func memory(ctx context.Context, _ *settings, r *report) (err error) {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: it is measured by smaps_rollup, on Linux", errSkip)
	}
	d := wasm.New(&wasm.Options{Idle: 1 + instances})
	defer also(&err, d.Close)
	session, err := d.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer also(&err, session.Close)

	var one, running, idle usage
	if err := together(ctx, session, 1, func() error { return nil }); err != nil {
		return err
	}
	if one, err = measureMemory(); err != nil {
		return err
	}
	err = together(ctx, session, 1+instances, func() (err error) {
		running, err = measureMemory()
		return err
	})
	if err != nil {
		return err
	}
	if idle, err = measureMemory(); err != nil {
		return err
	}
	r.table(table{
		Title:  "Memory of this process, with the interpreter and its instances",
		Header: []string{"private MiB", "RSS MiB", "private MiB for each more"},
		Rows: []row{
			{"1 instance, idle", []figure{mib(one.private), mib(one.resident), unknown}},
			{fmt.Sprintf("%d instances, idle", 1+instances), idle.row(one)},
			{fmt.Sprintf("%d instances, in a script", 1+instances), running.row(one)},
		},
	})
	return nil
}

// together has n runs under way at once, so that each has an instance of its own, and calls f meanwhile.
func together(ctx context.Context, session *engine.Session, n int, f func() error) error {
	runs := make([]*engine.Process, n)
	for i := range runs {
		p, err := session.Run(ctx, waiting, &engine.RunOptions{StdinPipe: true})
		if err != nil {
			return err
		}
		defer p.Kill() // for an early return: a run that has ended does not mind
		runs[i] = p
	}
	for _, p := range runs {
		if _, err := io.ReadFull(p.Stdout(), make([]byte, len("here\n"))); err != nil {
			return err
		}
	}
	if err := f(); err != nil {
		return err
	}
	for _, p := range runs {
		out, err := p.Communicate(ctx, []byte("\n"))
		if err != nil {
			return err
		}
		if out.Result.ExitCode != 0 {
			return fmt.Errorf("exit code %d: %s", out.Result.ExitCode, out.Stderr)
		}
	}
	return nil
}

// usage is memory in bytes.
type usage struct{ private, resident int64 }

func (u usage) row(one usage) []figure {
	return []figure{mib(u.private), mib(u.resident), mib(u.private-one.private) / instances}
}

// measureMemory reads proc_pid_smaps(5), after Go has given back what it does not need.
func measureMemory() (u usage, err error) {
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return u, err
	}
	if u.private, err = smapsField(b, "Private_Dirty:"); err == nil {
		u.resident, err = smapsField(b, "Rss:")
	}
	return u, err
}

// privateOf is the private memory in a file of /proc.
func privateOf(path string) (int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return smapsField(b, "Private_Dirty:")
}

// smapsField is a field of smaps_rollup in bytes.
func smapsField(b []byte, name string) (int64, error) {
	_, after, ok := strings.Cut(string(b), "\n"+name)
	fields := strings.Fields(after)
	if !ok || len(fields) == 0 {
		return 0, fmt.Errorf("no %s in smaps_rollup", name)
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err
}
