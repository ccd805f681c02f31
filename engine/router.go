package engine

import (
	"errors"
	"fmt"
)

// route is where a run goes first, and where to when that tier refuses the script.
type route struct {
	tier   *tier
	why    string
	refuse Refuse
	live   bool
	next   *tier // nil: nowhere
	second bool  // another tier has refused the script
}

// route chooses by the type of the script and what the run asks for; what is in the script, the tier looks at.
func (s *Session) route(o *RunOptions) (route, error) {
	switch {
	case o.Type != Python:
		return s.routeTo(TierNative, o.Type, "")
	case o.Interpreter == InterpreterSession:
		return s.routeLive()
	case s.opts.PythonTier == TierNative, s.tiers[TierWasm] == nil && s.tiers[TierNative] != nil && s.opts.PythonTier == TierAuto:
		return s.routeTo(TierNative, Python, "")
	case s.opts.PythonTier == TierAuto && s.tiers[TierNative] != nil && o.Terminal != nil:
		return s.routeTo(TierNative, Python, ": it has a terminal")
	}
	r, err := s.routeTo(TierWasm, Python, "")
	r.refuse = RefuseImpossible
	if s.opts.PythonTier == TierAuto && s.tiers[TierNative] != nil {
		r.refuse, r.next = RefuseDoubtful, s.tiers[TierNative]
	}
	return r, err
}

// routeTo is the route to one tier, and no other.
func (s *Session) routeTo(name Tier, t ScriptType, because string) (route, error) {
	tr := s.tiers[name]
	if tr == nil {
		return route{}, fmt.Errorf("%w: a %s script needs the %s tier, and this session was opened without it", ErrNotAvailable, t, name)
	}
	if tr.err != nil {
		return route{}, tr.err
	}
	return route{tier: tr, why: fmt.Sprintf("%s runs in the %s tier%s", t, name, because)}, nil
}

// routeLive is the route to the live interpreter.
func (s *Session) routeLive() (route, error) {
	if s.opts.PythonTier == TierNative {
		return route{}, fmt.Errorf("%w: the live interpreter needs the wasm tier, and PythonTier is %s", ErrNotAvailable, TierNative)
	}
	r, err := s.routeTo(TierWasm, Python, ": it uses the live interpreter")
	if err != nil {
		return r, err
	}
	if !r.tier.keepsInterpreter() {
		return r, errNoInterpreter
	}
	r.refuse, r.live = RefuseImpossible, true
	return r, nil
}

// instead is the route of a script that the first tier has refused, or the error that says so.
func (r route) instead(err error) (route, error) {
	var needs *NeedsNativeError
	if r.next == nil || !errors.As(err, &needs) {
		return route{}, err
	}
	why := fmt.Sprintf("python runs in the %s tier: %v", r.next.name, needs)
	if r.next.err != nil {
		return route{}, fmt.Errorf("%s, which is not there: %w", why, r.next.err)
	}
	return route{tier: r.next, why: why, second: true}, nil
}

// explain adds to the error of a tier that is not the first choice why it was asked.
func (r route) explain(err error) error {
	if err == nil || !r.second {
		return err
	}
	return fmt.Errorf("%s: %w", r.why, err)
}
