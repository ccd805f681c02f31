package engine

import "fmt"

// route picks the tier for a script type and says why.
func (s *Session) route(t ScriptType) (*tier, string, error) {
	name := TierWasm
	if t == Shell {
		name = TierNative
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
