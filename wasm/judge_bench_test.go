package wasm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// fiveKilobytes is a script of some 5 kB that imports what scripts import, and does next to nothing.
func fiveKilobytes() string {
	var b strings.Builder
	b.WriteString("import json, re, math, os\nfrom collections import Counter\n")
	for i := 0; b.Len() < 5000; i++ {
		fmt.Fprintf(&b, `

class Point%d:
    x: float = 0.0
    y: float = 1.5

    def length(self):
        if self.x > 0 and self.y < 10:
            return math.sqrt(self.x ** 2 + self.y ** 2)
        return json.dumps({"x": self.x, "parts": re.findall(r"\w+", os.getcwd()), "n": Counter([1, 2, 2])})
`, i)
	}
	return b.String()
}

// What it costs to decide where a script of 5 kB runs, beside the run.
func BenchmarkRouting(b *testing.B) {
	script := fiveKilobytes()
	for _, bm := range []struct {
		name   string
		refuse engine.Refuse
		first  bool // each script is seen for the first time
	}{
		{"not decided", engine.RefuseNone, true},
		{"seen first", engine.RefuseDoubtful, true},
		{"seen before", engine.RefuseDoubtful, false},
	} {
		b.Run(bm.name, func(b *testing.B) {
			s := openSession(b, newDriver(b, nil))
			n := 0
			for b.Loop() {
				text := script
				if bm.first {
					n++
					text = fmt.Sprintf("%s# %d\n", script, n)
				}
				mustPrint(b, s, text, func(spec *engine.RunSpec) { spec.Refuse = bm.refuse })
			}
		})
	}
}
