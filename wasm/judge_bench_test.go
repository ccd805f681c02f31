package wasm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// What it costs to decide where a script of 5 kB runs, beside the run. The three are timed in turn, and the medians
// reported in microseconds: the decision is the difference to the first.
func BenchmarkRouting(b *testing.B) {
	script := fiveKilobytes()
	s := openSession(b, newDriver(b, nil))
	modes := []struct {
		name   string
		refuse engine.Refuse
		first  bool // each script is seen for the first time
		times  []float64
	}{{"not-decided", engine.RefuseNone, true, nil}, {"seen-first", engine.RefuseDoubtful, true, nil}, {"seen-before", engine.RefuseDoubtful, false, nil}}
	n := 1_000_000 // texts of one length
	for b.Loop() {
		for i := range modes {
			m := &modes[i]
			text := fmt.Sprintf("%s# %d\n", script, 1)
			if n++; m.first {
				text = fmt.Sprintf("%s# %d\n", script, n)
			}
			began := time.Now()
			mustPrint(b, s, text, func(spec *engine.RunSpec) { spec.Refuse = m.refuse })
			m.times = append(m.times, float64(time.Since(began).Microseconds()))
		}
	}
	for _, m := range modes {
		slices.Sort(m.times)
		b.ReportMetric(m.times[len(m.times)/2], m.name+"-µs")
	}
}
