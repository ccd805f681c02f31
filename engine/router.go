package engine

import "fmt"

// route picks the tier for a script type and says why.
func (s *Session) route(t ScriptType) (*tier, string, error) {
	name := TierNative
	if t == Python {
		name = s.pythonTier()
	}
	tr := s.tiers[name]
	if tr == nil {
		return nil, "", fmt.Errorf("%w: a %s script needs the %s tier, and this session was opened without it", ErrNotAvailable, t, name)
	}
	if tr.err != nil {
		return nil, "", tr.err
	}
	return tr, fmt.Sprintf("%s runs in the %s tier", t, name), nil
}

func (s *Session) pythonTier() Tier {
	switch {
	case s.opts.PythonTier != "":
		return s.opts.PythonTier
	case s.tiers[TierWasm] == nil && s.tiers[TierNative] != nil:
		return TierNative
	}
	return TierWasm
}
