package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// report prints tables as they are finished, as Markdown that can be read as it is.
type report struct {
	out     io.Writer
	Machine []fact  `json:"machine"`
	Tables  []table `json:"tables"`
}

// fact is a line about what was measured on what.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// table is figures with a name a row. Header names the columns after the first, with their units.
type table struct {
	Title  string   `json:"title"`
	Header []string `json:"header"`
	Rows   []row    `json:"rows"`
}

type row struct {
	Name   string   `json:"name"`
	Values []figure `json:"values"`
}

// figure is a measured number; NaN is one that this system does not tell.
type figure float64

// unknown is the figure of what was not measured.
var unknown = figure(math.NaN())

// String gives three digits, or a whole number as it is.
func (f figure) String() string {
	v := float64(f)
	switch {
	case math.IsNaN(v):
		return "-"
	case v == math.Trunc(v), math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case math.Abs(v) >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// MarshalJSON implements json.Marshaler. JSON has no NaN.
func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// ms is d in milliseconds.
func ms(d time.Duration) figure { return figure(float64(d) / 1e6) }

// mib is bytes in MiB.
func mib(bytes int64) figure { return figure(float64(bytes) / (1 << 20)) }

func (r *report) begin() {
	r.note("# Results\n")
	for _, f := range r.Machine {
		r.note("- %s: %s", f.Name, f.Value)
	}
}

func (r *report) note(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

func (r *report) table(t table) {
	r.Tables = append(r.Tables, t)
	r.note("\n## %s\n", t.Title)
	lines := [][]string{append([]string{""}, t.Header...)}
	for _, row := range t.Rows {
		line := []string{row.Name}
		for _, v := range row.Values {
			line = append(line, v.String())
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, line := range lines {
		r.note("%s", joinCells(line, widths))
		if i == 0 {
			r.note("%s", rule(widths))
		}
	}
}

// joinCells is one line of a table: names to the left, figures to the right.
func joinCells(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		width := widths[i]
		if i == 0 {
			width = -width
		}
		fmt.Fprintf(&b, "| %*s ", width, cell)
	}
	return b.String() + "|"
}

func rule(widths []int) string {
	var b strings.Builder
	for i, width := range widths {
		if i == 0 {
			b.WriteString("|" + strings.Repeat("-", width+2))
			continue
		}
		b.WriteString("|" + strings.Repeat("-", width+1) + ":")
	}
	return b.String() + "|"
}
