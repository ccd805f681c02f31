package wire

import (
	"maps"
	"slices"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// Info makes the message of what a session says of itself: Session.Info and Session.Warnings. The ID is the caller's, and
// HostDir never travels.
func Info(i *engine.Info, warnings []string) *sandboxv2.SessionInfo {
	limits, err := setLimits(&i.Limits)
	if err != nil {
		limits = nil // no session has such limits
	}
	m := &sandboxv2.SessionInfo{
		Limits:      limits,
		Network:     NetworkMode(i.Network),
		Warnings:    validAll(warnings),
		Overlay:     valid(i.Overlay),
		OverlayKind: valid(string(i.OverlayKind)),
	}
	for n := range i.Tiers {
		m.Tiers = append(m.Tiers, TierInfo(&i.Tiers[n]))
	}
	for _, tier := range slices.Sorted(maps.Keys(i.Unenforced)) {
		for _, name := range i.Unenforced[tier] {
			m.Unenforced = append(m.Unenforced, &sandboxv2.UnenforcedLimit{Tier: Tier(tier), Name: valid(name)})
		}
	}
	return m
}

// ToInfo is the twin of Info.
func ToInfo(m *sandboxv2.SessionInfo) (i engine.Info, warnings []string) {
	i = engine.Info{
		Limits:      replyLimits(m.GetLimits()),
		Network:     ToNetworkMode(m.GetNetwork()),
		Overlay:     m.GetOverlay(),
		OverlayKind: engine.OverlayKind(m.GetOverlayKind()),
		Unenforced:  map[engine.Tier][]string{},
	}
	for _, t := range m.GetTiers() {
		i.Tiers = append(i.Tiers, ToTierInfo(t))
	}
	for _, u := range m.GetUnenforced() {
		tier := ToTier(u.GetTier())
		i.Unenforced[tier] = append(i.Unenforced[tier], u.GetName())
	}
	return i, m.GetWarnings()
}

// replyLimits are limits that a server says are in force. What this machine cannot hold is 0.
func replyLimits(m *sandboxv2.Limits) engine.Limits {
	l, err := toLimits(m)
	if err != nil {
		l.OpenFiles, l.Processes = clampInt(m.GetOpenFiles()), clampInt(m.GetProcesses())
	}
	return l
}

// TierInfo makes the message of what a tier says of itself.
func TierInfo(d *engine.DriverInfo) *sandboxv2.TierInfo {
	return &sandboxv2.TierInfo{
		Tier:       Tier(d.Tier),
		Backend:    valid(d.Backend),
		Versions:   validMap(d.Versions),
		Enforced:   validMap(d.Enforced),
		Unenforced: validAll(d.Unenforced),
		Unmeasured: validAll(d.Unmeasured),
		Warnings:   validAll(d.Warnings),
	}
}

// ToTierInfo is the twin of TierInfo.
func ToTierInfo(m *sandboxv2.TierInfo) engine.DriverInfo {
	return engine.DriverInfo{
		Tier:       ToTier(m.GetTier()),
		Backend:    m.GetBackend(),
		Versions:   m.GetVersions(),
		Enforced:   m.GetEnforced(),
		Unenforced: m.GetUnenforced(),
		Unmeasured: m.GetUnmeasured(),
		Warnings:   m.GetWarnings(),
	}
}

// Usage makes the message of u. A figure that was measured in no run is not set.
func Usage(u *engine.Usage) *sandboxv2.Usage {
	return &sandboxv2.Usage{
		Runs:            int64(u.Runs),
		Running:         int64(u.Running),
		WallTime:        setTime(u.WallTime),
		CpuTime:         setTime(u.CPUTime),
		PeakMemoryBytes: setFigure(u.PeakMemory),
		StdoutBytes:     u.StdoutBytes,
		StderrBytes:     u.StderrBytes,
		ByTier:          counts(u.ByTier),
		ByReason:        counts(u.ByReason),
		Unmeasured:      counts(u.Unmeasured),
	}
}

// ToUsage is the twin of Usage. No map is nil.
func ToUsage(m *sandboxv2.Usage) engine.Usage {
	u := engine.Usage{
		Runs:        clampInt(m.GetRuns()),
		Running:     clampInt(m.GetRunning()),
		WallTime:    toTime(m.GetWallTime()),
		CPUTime:     toTime(m.GetCpuTime()),
		PeakMemory:  engine.Unknown,
		StdoutBytes: m.GetStdoutBytes(),
		StderrBytes: m.GetStderrBytes(),
		ByTier:      toCounts[engine.Tier](m.GetByTier()),
		ByReason:    toCounts[engine.Reason](m.GetByReason()),
		Unmeasured:  toCounts[string](m.GetUnmeasured()),
	}
	if m != nil {
		u.PeakMemory = toFigure(m.PeakMemoryBytes)
	}
	return u
}

func counts[K ~string](m map[K]int) map[string]int64 {
	out := make(map[string]int64, len(m))
	for name, n := range m {
		out[valid(string(name))] = int64(n)
	}
	return out
}

func toCounts[K ~string](m map[string]int64) map[K]int {
	out := make(map[K]int, len(m))
	for name, n := range m {
		out[K(name)] = clampInt(n)
	}
	return out
}
