package wasm

import (
	"slices"
	"testing"
)

func TestNeeds(t *testing.T) {
	list := Needs()
	for _, want := range []Need{
		{"ctypes", "absent", "this tier runs no machine code"},
		{"subprocess", "useless", "this tier has no processes"},
		{"threading.Thread", "use", "this tier has no threads"},
	} {
		if !slices.Contains(list, want) {
			t.Errorf("%+v is not among them", want)
		}
	}
	for _, n := range list {
		if n.Name == "" || n.Reason == "" || !slices.Contains([]string{"absent", "useless", "use"}, n.Kind) {
			t.Errorf("%+v", n)
		}
	}
}
