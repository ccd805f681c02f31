package server

import "testing"

func TestRouteWord(t *testing.T) {
	for why, want := range map[string]string{
		"python runs in the wasm tier":                                             RouteDirect,
		"shell runs in the native tier":                                            RouteDirect,
		"python runs in the wasm tier: it uses the live interpreter":               RouteLive,
		"python runs in the native tier: it has a terminal":                        RouteTerminal,
		"python runs in the native tier: line 1: import x: it has C code":          RouteRefused,
		"python runs in the native tier: line 1: import x tier: it has a terminal": RouteRefused,
	} {
		if got := routeWord(why); got != want {
			t.Errorf("routeWord(%q) = %q, want %q", why, got, want)
		}
	}
}
