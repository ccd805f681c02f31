package wire

import (
	"fmt"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// Options makes the message of o, nil for the defaults, and of the name of a backend, empty for the server's default. Logger
// and From do not travel. Paths and source that are not UTF-8, names that are not known and negative durations are an
// *engine.InvalidError.
func Options(o *engine.Options, backend string) (*sandboxv2.SessionOptions, error) {
	if o == nil {
		o = &engine.Options{}
	}
	if err := optionTexts(o, backend); err != nil {
		return nil, err
	}
	m := &sandboxv2.SessionOptions{
		Backend:        backend,
		WorkDir:        o.WorkDir,
		Overlay:        o.Overlay,
		ReadOnly:       o.ReadOnly,
		ReadWrite:      o.ReadWrite,
		Warm:           o.Warm,
		Gpu:            o.GPU,
		Venv:           o.Venv,
		BestEffort:     o.BestEffort,
		MaxOutputBytes: o.MaxOutput,
	}
	setEnv(&m.Env, &m.EnvRaw, o.Env)
	var err error
	if m.Network, err = networkModes.ask("Network", o.Network); err != nil {
		return nil, err
	}
	if m.PythonTier, err = tiers.ask("PythonTier", o.PythonTier); err != nil {
		return nil, err
	}
	if m.Timeout, err = setDuration("Timeout", o.Timeout); err != nil {
		return nil, err
	}
	if m.Limits, err = setLimits(&o.Limits); err != nil {
		return nil, err
	}
	return m, nil
}

// optionTexts refuses what is not UTF-8 where a field cannot hold it.
func optionTexts(o *engine.Options, backend string) error {
	type field struct{ name, text string }
	fields := []field{{"Backend", backend}, {"WorkDir", o.WorkDir}, {"Overlay", o.Overlay}, {"Warm", o.Warm}}
	for i, path := range o.ReadOnly {
		fields = append(fields, field{fmt.Sprintf("ReadOnly[%d]", i), path})
	}
	for i, path := range o.ReadWrite {
		fields = append(fields, field{fmt.Sprintf("ReadWrite[%d]", i), path})
	}
	for _, f := range fields {
		if err := onlyText(f.name, f.text); err != nil {
			return err
		}
	}
	return nil
}

// ToOptions is the twin of Options. Nil is the defaults. Whether the backend exists and the options go together is not
// looked at.
func ToOptions(m *sandboxv2.SessionOptions) (o *engine.Options, backend string, err error) {
	o = &engine.Options{
		WorkDir:    m.GetWorkDir(),
		Overlay:    m.GetOverlay(),
		ReadOnly:   m.GetReadOnly(),
		ReadWrite:  m.GetReadWrite(),
		Warm:       m.GetWarm(),
		GPU:        m.GetGpu(),
		Venv:       m.GetVenv(),
		BestEffort: m.GetBestEffort(),
		MaxOutput:  m.GetMaxOutputBytes(),
	}
	if o.Env, err = envOf(m.GetEnv(), m.GetEnvRaw()); err != nil {
		return nil, "", err
	}
	if o.Network, err = networkModes.asked("Network", m.GetNetwork()); err != nil {
		return nil, "", err
	}
	if o.PythonTier, err = tiers.asked("PythonTier", m.GetPythonTier()); err != nil {
		return nil, "", err
	}
	if o.Timeout, err = ToDuration("Timeout", m.GetTimeout()); err != nil {
		return nil, "", err
	}
	if o.Limits, err = toLimits(m.GetLimits()); err != nil {
		return nil, "", err
	}
	return o, m.GetBackend(), nil
}

func setLimits(l *engine.Limits) (*sandboxv2.Limits, error) {
	if *l == (engine.Limits{}) {
		return nil, nil
	}
	cpu, err := setDuration("Limits.CPU", l.CPU)
	if err != nil {
		return nil, err
	}
	return &sandboxv2.Limits{
		MemoryBytes:   l.Memory,
		Cpu:           cpu,
		OutputBytes:   l.Output,
		OpenFiles:     int64(l.OpenFiles),
		FileSizeBytes: l.FileSize,
		TmpBytes:      l.Tmp,
		TmpFiles:      l.TmpFiles,
		DiskBytes:     l.Disk,
		DiskFiles:     l.DiskFiles,
		Processes:     int64(l.Processes),
	}, nil
}

func toLimits(m *sandboxv2.Limits) (engine.Limits, error) {
	l := engine.Limits{
		Memory:    m.GetMemoryBytes(),
		Output:    m.GetOutputBytes(),
		FileSize:  m.GetFileSizeBytes(),
		Tmp:       m.GetTmpBytes(),
		TmpFiles:  m.GetTmpFiles(),
		Disk:      m.GetDiskBytes(),
		DiskFiles: m.GetDiskFiles(),
	}
	var err error
	if l.CPU, err = ToDuration("Limits.CPU", m.GetCpu()); err != nil {
		return l, err
	}
	if l.OpenFiles, err = toInt("Limits.OpenFiles", m.GetOpenFiles()); err != nil {
		return l, err
	}
	l.Processes, err = toInt("Limits.Processes", m.GetProcesses())
	return l, err
}
