//go:build !linux

package main

import "testing"

// nativeWorks: on other systems the tier's scripts are written for, it does not.
func nativeWorks(testing.TB) bool { return false }
