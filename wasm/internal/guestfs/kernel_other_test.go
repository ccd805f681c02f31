//go:build !linux

package guestfs

import "testing"

func addKernel(*testing.T, map[string]target) {}
