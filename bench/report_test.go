package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSample_At(t *testing.T) {
	hundred := make(sample, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	for _, tt := range []struct {
		name string
		s    sample
		q    float64
		want time.Duration
	}{
		{"none", nil, 0.5, 0},
		{"one", sample{7}, 0.99, 7},
		{"median of odd", sample{3, 1, 2}, 0.5, 2},
		{"median of even is the lower", sample{4, 1, 2, 3}, 0.5, 2},
		{"least", hundred, 0, 1},
		{"p50", hundred, 0.5, 50},
		{"p99", hundred, 0.99, 99},
		{"most", hundred, 1, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.s.at(tt.q); got != tt.want {
				t.Errorf("at(%v) = %d, want %d", tt.q, got, tt.want)
			}
		})
	}
	if hundred[0] != 100 {
		t.Error("at sorted the sample itself")
	}
}

// Cases take turns, and warm rounds do not count.
func TestCompare_Rounds(t *testing.T) {
	var order []string
	one := func(name string, turn int) *competitor {
		return &competitor{name: name, turn: turn, run: func() error { order = append(order, name); return nil }}
	}
	a, b := one("a", 2), one("b", 0)
	if err := compare(t.Context(), 1, 2, []*competitor{a, b}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "a", "b", "a", "a", "b", "a", "a", "b"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if len(a.times) != 4 || len(b.times) != 2 {
		t.Errorf("%d and %d times, want 4 and 2", len(a.times), len(b.times))
	}
	broken := &competitor{name: "broken", run: func() error { return errors.New("no") }}
	if err := compare(t.Context(), 0, 1, []*competitor{broken}); err == nil || err.Error() != "broken: no" {
		t.Errorf("error %v", err)
	}
}

func TestFigure_String(t *testing.T) {
	for _, tt := range []struct {
		f    figure
		want string
	}{
		{0, "0"},
		{300, "300"},
		{1234.5, "1234"},
		{99.94, "99.9"},
		{1.005, "1.00"},
		{0.31251, "0.313"},
		{-2.5, "-2.50"},
		{unknown, "-"},
	} {
		if got := tt.f.String(); got != tt.want {
			t.Errorf("figure(%v) = %q, want %q", float64(tt.f), got, tt.want)
		}
	}
}

func TestReport_Table(t *testing.T) {
	var out bytes.Buffer
	r := &report{out: &out, Machine: []fact{{"Go", "go1"}}}
	r.begin()
	r.table(table{"Speed", []string{"p50 ms", "ratio"}, []row{{"first", []figure{0.5, 1}}, {"zweitä", []figure{12, unknown}}}})
	want := `# Results

- Go: go1

## Speed

|        | p50 ms | ratio |
|--------|-------:|------:|
| first  |  0.500 |     1 |
| zweitä |     12 |     - |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON := `{"machine":[{"name":"Go","value":"go1"}],"tables":[{"title":"Speed","header":["p50 ms","ratio"],` +
		`"rows":[{"name":"first","values":[0.5,1]},{"name":"zweitä","values":[12,null]}]}]}`
	if string(b) != wantJSON {
		t.Errorf("JSON %s\nwant %s", b, wantJSON)
	}
}

func TestGeometricMean(t *testing.T) {
	rows := []row{pair("a", 2, 1), pair("b", 8, 1)}
	got := geometricMean(rows)
	want := []float64{4000, 1000, 4}
	for i, v := range got.Values {
		if math.Abs(float64(v)-want[i]) > 1e-9*want[i] {
			t.Errorf("value %d is %v, want %v", i, v, want[i])
		}
	}
}

func TestMeteringRows(t *testing.T) {
	out := []byte("cpu: AMD EPYC\n" +
		"BenchmarkMetering/json_codec-2 \t 5\t        13.02 metered-ms\t         10 plain-ms\t         1.302 ratio\n" +
		"BenchmarkMetering/loop \t 5\t        136.6 metered-ms\t         134.2 plain-ms\t         1.017 ratio\nPASS\n")
	rows, err := meteringRows(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Name != "json_codec" || rows[1].Name != "loop" {
		t.Fatalf("rows %v", rows)
	}
	if got := rows[0].Values[2].String(); got != "1.30" {
		t.Errorf("ratio %s, want 1.30", got)
	}
	if _, err := meteringRows([]byte("PASS\n")); err == nil {
		t.Error("output without figures is no error")
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(sections) {
		t.Errorf("%d sections, %v", len(all), err)
	}
	if some, err := choose("cli,fresh"); err != nil || len(some) != 2 || some[0].name != "cli" || some[1].name != "fresh" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := choose("fresh,nothing"); err == nil {
		t.Error("an unknown section is no error")
	}
}
