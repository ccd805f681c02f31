package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/imports"
	"github.com/sandbar-dev/sandbar/wasm/python"
)

// MinMemory is the least Limits.Memory, in bytes: the image and room to work in.
const MinMemory = 64 << 20

// Driver is the Python tier: an engine.Driver. It is safe for concurrent use and serves any number of
// sessions.
type Driver struct {
	opts     Options
	findings findingsCache

	// loading is held while the interpreter is made ready, which takes seconds; mu never is.
	loading sync.Mutex

	mu          sync.Mutex
	interpreter *interpreter
	trees       []guestfs.TreeMount
	warnings    []string
	closed      bool
}

// New makes a driver. It does no work yet: the first run, or Prepare, gets the interpreter ready. The
// caller closes it, after the sessions that use it.
func New(opts *Options) *Driver { return &Driver{opts: opts.withDefaults()} }

// Open opens a session that has this tier only. The session does not close the driver.
func (d *Driver) Open(ctx context.Context, opts *engine.Options) (*engine.Session, error) {
	return engine.Open(ctx, []engine.Driver{d}, opts)
}

// Prepare gets the interpreter ready, so that the first run does not wait. It takes some seconds on a
// machine where nothing is cached, and some tens of milliseconds otherwise; a second call does nothing.
func (d *Driver) Prepare(ctx context.Context) error {
	_, err := d.ready(ctx)
	return err
}

// Close releases the interpreter. It may be called again. No session of the driver may be open.
func (d *Driver) Close() error {
	d.loading.Lock()
	defer d.loading.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.interpreter == nil {
		return nil
	}
	err := d.interpreter.close(context.Background())
	d.interpreter = nil
	return err
}

// ready returns the interpreter, loading it if that has not been done. An error is not kept: the next
// call tries again. A caller whose context ends stops waiting; the loading goes on.
func (d *Driver) ready(ctx context.Context) (*interpreter, error) {
	if p, err := d.loaded(); p != nil || err != nil {
		return p, err
	}
	done := make(chan error, 1)
	go func() { done <- d.load(context.WithoutCancel(ctx)) }()
	select {
	case err := <-done:
		if err != nil {
			return nil, fmt.Errorf("wasm tier: %w", err)
		}
		return d.loaded()
	case <-ctx.Done():
		return nil, fmt.Errorf("wasm tier: wait for the interpreter: %w", context.Cause(ctx))
	}
}

// loaded returns the interpreter, nil when it is not there yet.
func (d *Driver) loaded() (*interpreter, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("wasm tier: driver is closed: %w", engine.ErrNotAvailable)
	}
	return d.interpreter, nil
}

// load makes the interpreter ready, once.
func (d *Driver) load(ctx context.Context) error {
	d.loading.Lock()
	defer d.loading.Unlock()
	if p, err := d.loaded(); p != nil || err != nil {
		return err
	}
	trees, err := d.library()
	if err != nil {
		return err
	}
	named := make(chan error, 1)
	go func() { named <- imports.Prepare() }()
	p, warnings, err := loadInterpreter(ctx, &d.opts, trees)
	if namesErr := <-named; err == nil && namesErr != nil {
		return errors.Join(namesErr, p.close(ctx))
	}
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.interpreter, d.warnings = p, warnings
	return nil
}

// library opens the standard library and the time zones, as trees for the guest, once.
func (d *Driver) library() ([]guestfs.TreeMount, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.trees != nil {
		return d.trees, nil
	}
	archive, err := python.Library()
	if err != nil {
		return nil, err
	}
	entries := map[string][]guestfs.TreeEntry{}
	for _, f := range archive.File {
		folder, name, ok := cutFolder(f.Name)
		if !ok {
			continue
		}
		entries[folder] = append(entries[folder], guestfs.TreeEntry{
			Name: name, Size: int64(f.UncompressedSize64), ModTime: f.Modified,
			Open: func() (io.ReadCloser, error) { return f.Open() },
		})
	}
	var trees []guestfs.TreeMount
	for _, m := range [][2]string{{python.LibraryFolder, python.LibraryPath}, {python.ZoneinfoFolder, python.ZoneinfoPath}} {
		tree, err := guestfs.NewTree(entries[m[0]])
		if err != nil {
			return nil, fmt.Errorf("standard library: %w", err)
		}
		trees = append(trees, guestfs.TreeMount{Path: m[1], Tree: tree})
	}
	d.trees = trees
	return trees, nil
}

// Tier implements engine.Driver.
func (d *Driver) Tier() engine.Tier { return engine.TierWasm }

// Info implements engine.Driver.
func (d *Driver) Info() engine.DriverInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	return engine.DriverInfo{
		Tier:       engine.TierWasm,
		Versions:   map[string]string{"python": python.Version, "wazero": wazeroVersion()},
		Unenforced: d.unenforced(),
		Unmeasured: unmeasured(),
		Warnings:   d.warnings,
	}
}

// unenforced are the limits that the tier cannot hold here. Processes holds by itself: a guest is one.
func (d *Driver) unenforced() []string {
	limits := []string{"FileSize"}
	if threadCPU() < 0 {
		limits = append(limits, "CPU")
	}
	return limits
}

// unmeasured are the figures that the tier does not have here.
func unmeasured() []string {
	if threadCPU() < 0 {
		return []string{"CPUTime"}
	}
	return nil
}

// OpenSession implements engine.Driver.
func (d *Driver) OpenSession(_ context.Context, spec *engine.SessionSpec) (engine.DriverSession, error) {
	if spec.Limits.Memory < MinMemory {
		return nil, &engine.InvalidError{Field: "Limits.Memory", Problem: fmt.Sprintf("%d bytes is less than the %d that the interpreter needs", spec.Limits.Memory, MinMemory)}
	}
	if spec.Limits.Memory > maxMemory {
		return nil, &engine.InvalidError{Field: "Limits.Memory", Problem: fmt.Sprintf("%d bytes is more than the %d that a 32-bit guest can have", spec.Limits.Memory, int64(maxMemory))}
	}
	if spec.Limits.CPU > 0 && threadCPU() < 0 && !spec.BestEffort {
		return nil, fmt.Errorf("Limits.CPU on %s: %w", runtime.GOOS, engine.ErrNotEnforceable)
	}
	if spec.Limits.FileSize > 0 && !spec.BestEffort {
		return nil, fmt.Errorf("Limits.FileSize: %w", engine.ErrNotEnforceable)
	}
	if err := checkFrom(spec); err != nil {
		return nil, err
	}
	if _, err := d.loaded(); err != nil {
		return nil, err
	}
	trees, err := d.library()
	if err != nil {
		return nil, err
	}
	grants := make([]guestfs.Grant, len(spec.Grants))
	for i, g := range spec.Grants {
		grants[i] = guestfs.Grant{Path: g.Path, Writable: g.Writable}
	}
	config := guestfs.SessionConfig{Trees: trees, Work: spec.Root, Grants: grants}
	if spec.Quota != nil {
		config.WorkQuota = spec.Quota
	}
	files, err := guestfs.NewSession(config)
	if err != nil {
		return nil, err
	}
	ds := &session{driver: d, files: files, spec: spec, warming: make(chan struct{}, 1)}
	ds.warming <- struct{}{}
	if spec.From != nil {
		ds.from = spec.From.(*state).base.hold()
	}
	ds.live.init(ds)
	return ds, nil
}

// cutFolder splits "folder/name".
func cutFolder(name string) (folder, rest string, ok bool) {
	folder, rest, ok = strings.Cut(name, "/")
	return folder, rest, ok && rest != "" && !strings.HasSuffix(rest, "/")
}
