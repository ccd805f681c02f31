package rootfs

import (
	"fmt"
	"strings"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// Text shows the plan, a step a line.
func (p *Plan) Text() string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		ops  []spec.Op
	}{{"base", p.Base}, {"final", p.Final}} {
		fmt.Fprintf(&b, "# %s\n", part.name)
		for _, op := range part.ops {
			fmt.Fprintln(&b, opText(op))
		}
	}
	return b.String()
}

func opText(op spec.Op) string {
	words := []string{fmt.Sprintf("%-8s %s", op.Kind, op.Target)}
	add := func(cond bool, format string, args ...any) {
		if cond {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(op.Source != "" && op.Source != op.Target, "from %s", op.Source)
	add(op.FD != 0, "from mount %d", op.FD)
	add(op.Mode != 0, "mode %04o", op.Mode)
	add(op.Size != 0, "size %d", op.Size)
	add(op.Inodes != 0, "inodes %d", op.Inodes)
	add(op.ReadOnly, "ro")
	add(op.Device, "dev")
	add(op.Data != "", "%q", op.Data)
	return strings.Join(words, " ")
}
