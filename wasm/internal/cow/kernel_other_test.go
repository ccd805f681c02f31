//go:build !linux

package cow

import (
	"runtime"
	"testing"
)

const reserves = runtime.GOOS == "darwin"

func fds(testing.TB) int { return 0 }

func withoutPagemap(*testing.T, *Image) {}
