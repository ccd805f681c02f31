package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sandbar-dev/sandbar/server"
)

// WatchServer adds what a server knows by itself. Figures is its method Figures, which is called with each scrape. An error says
// that a server is being watched already.
func (m *Metrics) WatchServer(figures func() server.Figures) error {
	read := func() []float64 {
		f := figures()
		return []float64{float64(f.Running), float64(f.Queued), oneIf(f.Draining)}
	}
	return m.watch(read,
		value{"sandbar_run_slots_taken", "Runs that have a slot.", prometheus.GaugeValue, nil},
		value{"sandbar_run_queue_length", "Runs that wait for a slot.", prometheus.GaugeValue, nil},
		value{"sandbar_draining", "1 while the server takes no more sessions and runs.", prometheus.GaugeValue, nil},
	)
}

// Pool are figures of the wasm tier: those of wasm.Driver.Stats, whose type converts to this one.
type Pool struct {
	Loaded      bool
	Ready, Made int64
	Idle        int
}

// WatchPool adds those of the wasm tier, which stats gives with each scrape. An error says that a pool is being watched already.
func (m *Metrics) WatchPool(stats func() Pool) error {
	const name, help = "sandbar_wasm_instances_taken_total", "Interpreters that runs were given: kept ready, or made on demand."
	read := func() []float64 {
		p := stats()
		return []float64{float64(p.Ready), float64(p.Made), float64(p.Idle), oneIf(p.Loaded)}
	}
	return m.watch(read,
		value{name, help, prometheus.CounterValue, prometheus.Labels{"source": "ready"}},
		value{name, help, prometheus.CounterValue, prometheus.Labels{"source": "made"}},
		value{"sandbar_wasm_instances_idle", "Interpreters that are kept ready.", prometheus.GaugeValue, nil},
		value{"sandbar_wasm_interpreter_loaded", "1 when the interpreter is there, so that no run waits for it.", prometheus.GaugeValue, nil},
	)
}

// value describes one of the values that a watch reads.
type value struct {
	name, help string
	kind       prometheus.ValueType
	labels     prometheus.Labels
}

// watch registers a collector for the values. Read gives them in their order, all of one moment.
func (m *Metrics) watch(read func() []float64, values ...value) error {
	w := &watcher{read: read}
	for _, v := range values {
		w.descs = append(w.descs, prometheus.NewDesc(v.name, v.help, nil, v.labels))
		w.kinds = append(w.kinds, v.kind)
	}
	if err := m.registry.Register(w); err != nil {
		return fmt.Errorf("metrics: watch %s: %w", values[0].name, err)
	}
	return nil
}

type watcher struct {
	descs []*prometheus.Desc
	kinds []prometheus.ValueType
	read  func() []float64
}

// Describe implements prometheus.Collector.
func (w *watcher) Describe(to chan<- *prometheus.Desc) {
	for _, d := range w.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (w *watcher) Collect(to chan<- prometheus.Metric) {
	for i, v := range w.read() {
		to <- prometheus.MustNewConstMetric(w.descs[i], w.kinds[i], v)
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
