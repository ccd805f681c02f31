package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options are for New.
type Options struct {
	// Version is that of the server, for sandbar_build_info.
	Version string
	// Backends are those of server.Options. Others are "other".
	Backends []string
}

// Metrics is a server.Observer, with a registry of its own. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	backends words

	sessions         *prometheus.GaugeVec
	sessionsOpened   *prometheus.CounterVec
	sessionFailures  *prometheus.CounterVec
	sessionsClosed   *prometheus.CounterVec
	sessionOpenTime  *prometheus.HistogramVec
	sessionCloseTime *prometheus.HistogramVec

	snapshots     prometheus.Gauge
	snapshotsKept *prometheus.CounterVec

	running       *prometheus.GaugeVec
	runsStarted   *prometheus.CounterVec
	runFailures   *prometheus.CounterVec
	runsEnded     *prometheus.CounterVec
	queueFailures *prometheus.CounterVec
	queueTime     prometheus.Histogram
	startTime     *prometheus.HistogramVec
	runTime       *prometheus.HistogramVec

	output *prometheus.CounterVec
	files  *prometheus.CounterVec

	calls    *prometheus.CounterVec
	callTime *prometheus.HistogramVec
}

// buckets are from 0.1 ms to 10 minutes: a Python run takes less than a millisecond, and a run may take as long as its timeout.
var buckets = []float64{
	.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
}

// New makes metrics. Nil options mean the defaults. Nothing has to be closed.
func New(opts *Options) *Metrics {
	if opts == nil {
		opts = &Options{}
	}
	m := &Metrics{registry: prometheus.NewRegistry(), backends: wordsOf(opts.Backends...)}
	m.backends[""] = struct{}{} // of the wasm tier
	m.makeSessions(opts.Backends)
	m.makeRuns()
	m.makeCalls()
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := m.gauges("sandbar_build_info", "The version of the server, as a label of a constant 1.", "version", "go_version")
	build.WithLabelValues(opts.Version, runtime.Version()).Set(1)
	return m
}

func (m *Metrics) makeSessions(backends []string) {
	m.sessions = m.gauges("sandbar_sessions", "Sessions that are open.", "backend")
	m.sessionsOpened = m.counters("sandbar_sessions_opened_total", "Sessions that were opened.", "backend")
	m.sessionFailures = m.counters("sandbar_session_open_failures_total", "Sessions that could not be opened, by the code of the error. Those that the server refuses are in the calls alone.", "backend", "code")
	m.sessionsClosed = m.counters("sandbar_sessions_closed_total", "Sessions that were closed, by why.", "backend", "reason")
	m.sessionOpenTime = m.histograms("sandbar_session_open_duration_seconds", "Time to open a session.", "backend")
	m.sessionCloseTime = m.histograms("sandbar_session_close_duration_seconds", "Time to close a session, its runs included.", "backend")
	m.snapshots = m.gauges("sandbar_snapshots", "Snapshots that are kept.").WithLabelValues()
	m.snapshotsKept = m.counters("sandbar_snapshots_kept_total", "Snapshots that were taken of sessions or uploaded.", "source")
	for _, b := range backends {
		m.sessions.WithLabelValues(b)
	}
}

func (m *Metrics) makeRuns() {
	m.running = m.gauges("sandbar_runs", "Runs that are under way.", "tier", "backend")
	m.runsStarted = m.counters("sandbar_runs_started_total", "Runs that were started.", "tier", "backend")
	m.runFailures = m.counters("sandbar_run_start_failures_total", "Runs that had a slot and could not be started, by the code of the error.", "code")
	m.runsEnded = m.counters("sandbar_runs_ended_total", "Runs that have ended, by how.", "tier", "backend", "reason")
	m.queueFailures = m.counters("sandbar_run_queue_failures_total", "Runs that got no slot, by the code of the error.", "code")
	m.queueTime = m.histograms("sandbar_run_queue_wait_seconds", "Time that runs waited for a slot, those that got none included.").WithLabelValues().(prometheus.Histogram)
	m.startTime = m.histograms("sandbar_run_start_duration_seconds", "Time from the slot to the start of the script.", "tier", "backend")
	m.runTime = m.histograms("sandbar_run_duration_seconds", "Wall time of scripts.", "tier", "backend")
	m.output = m.counters("sandbar_run_output_bytes_total", "Bytes that scripts wrote, kept or not. They are counted when the run has ended.", "stream")
	m.files = m.counters("sandbar_file_bytes_total", "Bytes of files that were put and got.", "direction")
	for _, w := range []string{stdout, stderr} {
		m.output.WithLabelValues(w)
	}
	for _, w := range []string{put, got} {
		m.files.WithLabelValues(w)
	}
}

func (m *Metrics) makeCalls() {
	m.calls = m.counters("sandbar_rpc_calls_total", "Calls that have ended, with those that were refused for their credentials.", "procedure", "code")
	m.callTime = m.histograms("sandbar_rpc_duration_seconds", "Time of calls; of streams, to their end.", "procedure")
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histograms(name, help string, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(v)
	return v
}

// What a scrape may take of the server.
const (
	maxScrapes = 4
	scrapeTime = 10 * time.Second
)

// Handler answers scrapes, in the formats of Prometheus and OpenMetrics. More than four at once get 503.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, Timeout: scrapeTime})
}

// Register adds collectors of the program's own. An error says that one is there already.
func (m *Metrics) Register(c prometheus.Collector) error { return m.registry.Register(c) }
