package engine

import (
	"maps"
	"slices"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

// Info says what a session has and what is enforced in it.
type Info struct {
	ID string
	// HostDir is the path of the work directory on the host. Scripts see it as WorkDir. It is empty when the
	// work directory lies in memory (Limits.Disk): that is mounted in the cells of the session and nowhere else.
	HostDir string
	// Overlay is the path of Options.Overlay without links, OverlayKind how the session lies over it. Both are empty
	// without one.
	Overlay     string
	OverlayKind OverlayKind
	// Limits are those in force, with the defaults.
	Limits Limits
	// Network is the most that a run may have of the network.
	Network netpolicy.Mode
	// Unenforced names, per tier, the fields of Limits that were asked for and do not hold. It is empty
	// unless Options.BestEffort.
	Unenforced map[Tier][]string
	// Tiers describe the session's tiers.
	Tiers []DriverInfo
}

// Info describes the session. It may be called at any time, also after Close.
func (s *Session) Info() Info {
	if s.peer != nil {
		return s.peer.Info()
	}
	info := Info{ID: s.id, HostDir: s.files.hostDir, Limits: s.limits, Network: s.opts.Network, Unenforced: map[Tier][]string{}}
	if h := &s.files.history; h.host != nil {
		info.Overlay, info.OverlayKind = h.hostDir, h.kind
	}
	for _, name := range slices.Sorted(maps.Keys(s.tiers)) {
		d := s.tiers[name].driver
		info.Tiers = append(info.Tiers, d.Info())
		if s.tiers[name].err != nil || !s.opts.BestEffort {
			continue // nothing runs in it, or nothing without a limit that was asked for
		}
		if names := unenforced(d, &s.opts.Limits, s.files.made != nil); len(names) > 0 {
			info.Unenforced[name] = names
		}
	}
	return info
}

// ID is unguessable and unique; it is in the logs of the session.
func (s *Session) ID() string { return s.id }

// Warnings are one line each about isolation that is loosened in this session.
func (s *Session) Warnings() []string {
	var all []string
	if s.peer != nil {
		for _, tier := range s.peer.Info().Tiers {
			all = append(all, tier.Warnings...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.tiers)) {
		all = append(all, s.tiers[name].driver.Info().Warnings...)
	}
	return all
}

// unenforced names the limits that were asked for and that the driver cannot hold. With made, the work
// directory's own file system holds those of the disk.
func unenforced(d Driver, asked *Limits, made bool) []string {
	var names []string
	for _, f := range asked.fields() {
		if f.value == 0 || made && f.ofDisk() {
			continue
		}
		if slices.Contains(d.Info().Unenforced, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

func (f limitField) ofDisk() bool { return f.name == "Disk" || f.name == "DiskFiles" }
