package wasm

import "github.com/sandbar-dev/sandbar/engine"

func (s *session) decide(*engine.RunSpec, []byte, *control) *engine.NeedsNativeError { return nil }
