package wasm

import (
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

func TestDriver_Stats(t *testing.T) {
	d := New(&Options{Idle: 1})
	t.Cleanup(func() { d.Close() })
	if got := d.Stats(); got != (Stats{}) {
		t.Errorf("Stats() of a driver without interpreter = %+v, want none", got)
	}
	if err := d.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := d.Stats()
	if !before.Loaded || before.Ready+before.Made != 0 {
		t.Errorf("Stats() of a driver that has run nothing = %+v, want it loaded and nothing taken", before)
	}
	s, err := d.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const runs = 3
	for range runs {
		if _, err := s.RunCode(t.Context(), "pass", &engine.RunOptions{Type: engine.Python}); err != nil {
			t.Fatal(err)
		}
		d.interpreter.pool.making.Wait() // the instance is there again
	}
	if got := d.Stats(); got.Ready+got.Made != runs || got.Ready == 0 || got.Idle != 1 {
		t.Errorf("Stats() after %d runs one by one = %+v, want %[1]d taken, some of them ready, and 1 idle", runs, got)
	}
}

func TestDriver_StatsWithoutIdle(t *testing.T) {
	d := newDriver(t, &Options{Idle: -1})
	s, err := d.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.RunCode(t.Context(), "pass", &engine.RunOptions{Type: engine.Python}); err != nil {
		t.Fatal(err)
	}
	if got, want := d.Stats(), (Stats{Loaded: true, Made: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

func TestDriver_StatsWhileClosing(t *testing.T) {
	shared(t)
	d := New(nil)
	if err := d.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				d.Stats()
			}
		})
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if got := d.Stats(); got != (Stats{}) {
		t.Errorf("Stats() of a closed driver = %+v, want none", got)
	}
}
