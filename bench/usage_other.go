//go:build !unix

package main

import "time"

// processorTime is negative: not known.
func processorTime() time.Duration { return -1 }
