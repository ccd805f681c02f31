//go:build !linux

package cow

import "os"

func openPagemap() *os.File { return nil }

// dirty is not known here.
func (m *Memory) dirty() ([]Range, bool) { return nil, false }

type scan struct{}
