package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/server"
)

var _ server.Observer = (*Metrics)(nil)

// SessionOpened implements server.Observer.
func (m *Metrics) SessionOpened(backend string, took time.Duration, err error) {
	backend = m.backends.of(backend)
	if err != nil {
		m.sessionFailures.WithLabelValues(backend, codeOf(err)).Inc()
		return
	}
	m.sessions.WithLabelValues(backend).Inc()
	m.sessionsOpened.WithLabelValues(backend).Inc()
	observe(m.sessionOpenTime.WithLabelValues(backend), took)
}

// SessionClosed implements server.Observer.
func (m *Metrics) SessionClosed(backend, why string, took time.Duration) {
	backend = m.backends.of(backend)
	m.sessions.WithLabelValues(backend).Dec()
	m.sessionsClosed.WithLabelValues(backend, closeWord(why)).Inc()
	observe(m.sessionCloseTime.WithLabelValues(backend), took)
}

// SnapshotKept implements server.Observer.
func (m *Metrics) SnapshotKept(up bool) {
	m.snapshots.Inc()
	m.snapshotsKept.WithLabelValues(pick(up, uploaded, taken)).Inc()
}

// SnapshotRemoved implements server.Observer.
func (m *Metrics) SnapshotRemoved() { m.snapshots.Dec() }

// RunQueued implements server.Observer.
func (m *Metrics) RunQueued(waited time.Duration, err error) {
	observe(m.queueTime, waited)
	if err != nil {
		m.queueFailures.WithLabelValues(codeOf(err)).Inc()
	}
}

// RunStarted implements server.Observer.
func (m *Metrics) RunStarted(tier engine.Tier, backend string, took time.Duration, err error) {
	if err != nil {
		m.runFailures.WithLabelValues(codeOf(err)).Inc()
		return
	}
	t, b := tiers.of(string(tier)), m.backends.of(backend)
	m.running.WithLabelValues(t, b).Inc()
	m.runsStarted.WithLabelValues(t, b).Inc()
	observe(m.startTime.WithLabelValues(t, b), took)
}

// RunEnded implements server.Observer.
func (m *Metrics) RunEnded(tier engine.Tier, backend string, result *engine.Result, err error) {
	t, b := tiers.of(string(tier)), m.backends.of(backend)
	m.running.WithLabelValues(t, b).Dec()
	if err != nil {
		m.runsEnded.WithLabelValues(t, b, string(engine.ReasonLost)).Inc()
		return
	}
	m.runsEnded.WithLabelValues(t, b, reasons.of(string(result.Reason))).Inc()
	if result.WallTime >= 0 {
		observe(m.runTime.WithLabelValues(t, b), result.WallTime)
	}
	add(m.output.WithLabelValues(stdout), result.StdoutBytes)
	add(m.output.WithLabelValues(stderr), result.StderrBytes)
}

// FileMoved implements server.Observer.
func (m *Metrics) FileMoved(in bool, bytes int64) {
	add(m.files.WithLabelValues(pick(in, put, got)), bytes)
}

// CallEnded implements server.Observer.
func (m *Metrics) CallEnded(procedure, code string, took time.Duration) {
	p := procedureWord(procedure)
	m.calls.WithLabelValues(p, codes.of(code)).Inc()
	observe(m.callTime.WithLabelValues(p), took)
}

func observe(to prometheus.Observer, d time.Duration) { to.Observe(d.Seconds()) }

// add leaves out what was not measured: a counter panics when it is to go down.
func add(to prometheus.Counter, n int64) {
	if n > 0 {
		to.Add(float64(n))
	}
}

func pick(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}
