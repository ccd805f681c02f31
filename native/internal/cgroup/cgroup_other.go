//go:build !linux

package cgroup

import (
	"errors"
	"os"
	"os/exec"
)

// Parent is where groups are made. There is none but on Linux.
type Parent struct{}

// Group is a control group. There is none but on Linux.
type Group struct{}

func unsupported(step string) error {
	return &Unavailable{Step: step, Err: errors.ErrUnsupported, Remedy: "control groups are a feature of Linux"}
}

// Find returns [Unavailable] with errors.ErrUnsupported.
func Find() (*Parent, error) { return nil, unsupported("find control groups") }

// Version returns 0.
func (p *Parent) Version() int { return 0 }

// Controllers returns nil.
func (p *Parent) Controllers() []string { return nil }

// MeasuresMemory returns false.
func (p *Parent) MeasuresMemory() bool { return false }

// New returns [Unavailable] with errors.ErrUnsupported.
func (p *Parent) New(string, Limits) (*Group, error) { return nil, unsupported("make a group") }

// Sweep returns [Unavailable] with errors.ErrUnsupported.
func Sweep(*Parent) error { return unsupported("sweep groups") }

// Start returns [Unavailable] with errors.ErrUnsupported.
func (g *Group) Start(*exec.Cmd) error { return unsupported("start a process") }

// Add returns [Unavailable] with errors.ErrUnsupported.
func (g *Group) Add(int) error { return unsupported("add a process") }

// Open returns [Unavailable] with errors.ErrUnsupported.
func (g *Group) Open() (*os.File, error) { return nil, unsupported("open a group") }

// Reset returns [Unavailable] with errors.ErrUnsupported.
func (g *Group) Reset() error { return unsupported("reset figures") }

// Usage returns [Unavailable] with errors.ErrUnsupported.
func (g *Group) Usage() (Usage, error) {
	return Usage{CPU: Unknown, PeakMemory: Unknown, OOMKills: Unknown}, unsupported("read figures")
}

// Kill returns [Unavailable] with errors.ErrUnsupported.
func (g *Group) Kill() error { return unsupported("kill a group") }

// Close returns [Unavailable] with errors.ErrUnsupported.
func (g *Group) Close() error { return unsupported("close a group") }
