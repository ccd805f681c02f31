//go:build !linux

package wasm

import "time"

// threadCPU is not known here.
func threadCPU() time.Duration { return -1 }
