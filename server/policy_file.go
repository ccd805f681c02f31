package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// defaultPolicy is the name of the policy of principals that name none.
const defaultPolicy = "default"

// Policies are the named policies of a server. Its methods may be called by several goroutines at once.
type Policies struct {
	file *watched[map[string]*Policy]
	one  *Policy // in the place of a file
}

// OnePolicy are policies of which there is one, "default".
func OnePolicy(p *Policy) *Policies { return &Policies{one: p} }

// OpenPolicies reads a YAML file of policies by their names, of which one is "default", for principals that name none:
//
//	default:
//	  backends: [userns]          # beside the server's default; "*" is each but none
//	  network: [open]             # beside blocked
//	  python_tiers: [wasm, auto]
//	  gpu: false
//	  venv: true
//	  work_dirs: [/srv/work]      # roots, as are overlays, read_only and read_write
//	  max_limits: {memory: 2GiB, cpu: 60s, processes: 64, disk: none}
//	  max_timeout: 10m            # "none": any, and no timeout
//	  max_idle_timeout: 1h
//	  max_lifetime: 24h
//	  max_sessions: 20
//	  max_runs: 4
//	  max_queued_runs: 100
//	  max_snapshots: 0
//	  allow_detach: true
//	  allow_best_effort: false
//
// A policy gives what it says, and what is left out is as in the zero Policy. Unknown names are errors. Sizes are in bytes, with a
// suffix KiB, MiB, GiB or TiB if you like. A root must exist, and neither it nor what it is in be writable by group or others.
//
// The file is read again as that of OpenTokens is. Sessions stay as they were opened. Nil logger: none.
func OpenPolicies(path string, logger *slog.Logger) (*Policies, error) {
	file, err := watch(path, logger, parsePolicies)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	return &Policies{file: file}, nil
}

// Named is the policy of this name, as the file has it now.
func (p *Policies) Named(name string) (*Policy, bool) {
	if p.file == nil {
		return p.one, name == defaultPolicy
	}
	policy, ok := p.file.get()[name]
	return policy, ok
}

func parsePolicies(text []byte) (map[string]*Policy, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var sections map[string]*policySection
	if err := d.Decode(&sections); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	// A second document would be ignored, and with it what its author meant to say.
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more than one document")
	}
	policies := map[string]*Policy{}
	for name, section := range sections {
		if !isName(name) {
			return nil, fmt.Errorf("%.80q is not a name of 1 to %d letters, digits and any of . _ - @", name, maxName)
		}
		if section == nil {
			section = &policySection{}
		}
		policy, err := section.policy()
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", name, err)
		}
		policies[name] = policy
	}
	if policies[defaultPolicy] == nil {
		return nil, fmt.Errorf("has no policy %q", defaultPolicy)
	}
	return policies, nil
}

// A policySection is a policy as the file has it.
type policySection struct {
	Backends    []string         `yaml:"backends"`
	Network     []netpolicy.Mode `yaml:"network"`
	PythonTiers []engine.Tier    `yaml:"python_tiers"`
	GPU         bool             `yaml:"gpu"`
	Venv        bool             `yaml:"venv"`
	WorkDirs    []string         `yaml:"work_dirs"`
	Overlays    []string         `yaml:"overlays"`
	ReadOnly    []string         `yaml:"read_only"`
	ReadWrite   []string         `yaml:"read_write"`
	MaxLimits   struct {
		Memory    size  `yaml:"memory"`
		CPU       span  `yaml:"cpu"`
		Output    size  `yaml:"output"`
		OpenFiles count `yaml:"open_files"`
		FileSize  size  `yaml:"file_size"`
		Tmp       size  `yaml:"tmp"`
		TmpFiles  count `yaml:"tmp_files"`
		Disk      size  `yaml:"disk"`
		DiskFiles count `yaml:"disk_files"`
		Processes count `yaml:"processes"`
	} `yaml:"max_limits"`
	MaxTimeout      span    `yaml:"max_timeout"`
	MaxIdle         span    `yaml:"max_idle_timeout"`
	MaxLifetime     span    `yaml:"max_lifetime"`
	MaxSessions     *amount `yaml:"max_sessions"`
	MaxRuns         *amount `yaml:"max_runs"`
	MaxQueued       *amount `yaml:"max_queued_runs"`
	MaxSnapshots    *amount `yaml:"max_snapshots"`
	AllowDetach     bool    `yaml:"allow_detach"`
	AllowBestEffort bool    `yaml:"allow_best_effort"`
}

func (s *policySection) policy() (*Policy, error) {
	l := &s.MaxLimits
	p := &Policy{
		Backends: s.Backends, Network: s.Network, PythonTiers: s.PythonTiers, GPU: s.GPU, Venv: s.Venv,
		Max: engine.Limits{
			Memory: int64(l.Memory), CPU: time.Duration(l.CPU), Output: int64(l.Output), OpenFiles: int(l.OpenFiles),
			FileSize: int64(l.FileSize), Tmp: int64(l.Tmp), TmpFiles: int64(l.TmpFiles), Disk: int64(l.Disk),
			DiskFiles: int64(l.DiskFiles), Processes: int(l.Processes),
		},
		MaxTimeout: time.Duration(s.MaxTimeout), MaxIdle: time.Duration(s.MaxIdle), MaxLifetime: time.Duration(s.MaxLifetime),
		MaxSessions: s.MaxSessions.most(), MaxRuns: s.MaxRuns.most(), MaxQueued: s.MaxQueued.most(), MaxSnapshots: s.MaxSnapshots.most(),
		AllowDetach: s.AllowDetach, AllowBestEffort: s.AllowBestEffort,
	}
	if p.MaxTimeout == NoMaximum {
		p.MaxTimeout = engine.NoTimeout
	}
	if p.MaxIdle < 0 || p.MaxLifetime < 0 {
		return nil, errors.New("max_idle_timeout and max_lifetime cannot be none; left out, they are the server's")
	}
	if err := p.checkNames(); err != nil {
		return nil, err
	}
	if err := p.setRoots(s); err != nil {
		return nil, err
	}
	return p, p.checkNested()
}

// checkNames refuses what could never be asked for: it is a slip of the pen, and what was meant is not allowed.
func (p *Policy) checkNames() error {
	for _, b := range p.Backends {
		if b != AnyBackend && !isName(b) {
			return fmt.Errorf("backends: %.80q is not a name", b)
		}
	}
	for _, m := range p.Network {
		if !m.Known() {
			return fmt.Errorf("network: %.80q is not a mode; there are %s", m, spelled(netpolicy.Modes()))
		}
	}
	tiers := []engine.Tier{engine.TierAuto, engine.TierWasm, engine.TierNative}
	for _, t := range p.PythonTiers {
		if !slices.Contains(tiers, t) {
			return fmt.Errorf("python_tiers: %.80q is not a tier; there are %s", t, spelled(tiers))
		}
	}
	return nil
}

func (p *Policy) setRoots(s *policySection) error {
	for _, f := range []struct {
		field string
		from  []string
		to    *[]string
	}{
		{"work_dirs", s.WorkDirs, &p.WorkDirs},
		{"overlays", s.Overlays, &p.Overlays},
		{"read_only", s.ReadOnly, &p.ReadOnly},
		{"read_write", s.ReadWrite, &p.ReadWrite},
	} {
		for _, root := range f.from {
			target, err := realRoot(root)
			if err != nil {
				return fmt.Errorf("%s: %.200q: %w", f.field, root, err)
			}
			*f.to = append(*f.to, target)
		}
	}
	return nil
}

// checkNested refuses a root inside another one that scripts can write: they could put a link in its place, between the check
// of a session's options and their use.
func (p *Policy) checkNested() error {
	writable := slices.Concat(p.WorkDirs, p.Overlays, p.ReadWrite)
	for _, root := range slices.Concat(writable, p.ReadOnly) {
		for _, dir := range writable {
			if root != dir && below(root, dir) {
				return fmt.Errorf("the root %.200q lies in %.200q, where scripts can write", root, dir)
			}
		}
	}
	return nil
}

// The scalars of the file. Each is zero when it is left out, NoMaximum for "none", and else more than zero.
type (
	size  int64
	count int32
	span  time.Duration
	// An amount may be 0 as well.
	amount int32
)

var suffixes = []struct {
	name  string
	shift int
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *size) UnmarshalYAML(node *yaml.Node) error {
	text, shift := node.Value, 0
	for _, x := range suffixes {
		if rest, ok := strings.CutSuffix(text, x.name); ok {
			text, shift = strings.TrimRight(rest, " "), x.shift
			break
		}
	}
	n, err := number(node, text, math.MaxInt64>>shift)
	if err != nil {
		return err
	}
	*s = size(n)
	if n > 0 {
		*s <<= shift
	}
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (c *count) UnmarshalYAML(node *yaml.Node) error {
	n, err := number(node, node.Value, math.MaxInt32)
	*c = count(n)
	return err
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *span) UnmarshalYAML(node *yaml.Node) error {
	if isNone(node) {
		*s = NoMaximum
		return nil
	}
	d, err := time.ParseDuration(node.Value)
	if node.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		return fmt.Errorf(`line %d: is not a time of more than 0, like 90s or 1h30m, or "none"`, node.Line)
	}
	*s = span(d)
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (a *amount) UnmarshalYAML(node *yaml.Node) error {
	n, err := strconv.ParseInt(node.Value, 10, 32)
	if node.Kind != yaml.ScalarNode || err != nil || n < 0 {
		return fmt.Errorf("line %d: is not a number of 0 or more", node.Line)
	}
	*a = amount(n)
	return nil
}

// most is the number as Policy has it.
func (a *amount) most() int {
	switch {
	case a == nil:
		return 0
	case *a == 0:
		return -1
	}
	return int(*a)
}

func isNone(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Value == "none" }

// number is NoMaximum, or a number from 1 to most.
func number(node *yaml.Node, text string, most int64) (int64, error) {
	if isNone(node) {
		return NoMaximum, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if node.Kind != yaml.ScalarNode || err != nil || n <= 0 || n > most {
		return 0, fmt.Errorf(`line %d: is not a number from 1 to %d, or "none"`, node.Line, most)
	}
	return n, nil
}
