// Package testneed lets a test that needs something of the host skip where that is missing, and fail where it should be
// there: the environment variable SANDBOX_REQUIRE, which only tests read, names what a host has, separated by commas. CI
// sets it.
package testneed

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Feature skips the test because of err, or fails it where the feature is required. Without an error it does nothing.
func Feature(tb testing.TB, feature string, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case Required(feature):
		tb.Fatalf("%s is required here: %v", feature, err)
	default:
		tb.Skipf("%s: %v", feature, err)
	}
}

// Required reports whether SANDBOX_REQUIRE names the feature, with or without a version behind a colon.
func Required(feature string) bool {
	return slices.ContainsFunc(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), func(f string) bool { //nolint:forbidigo // for tests only
		name, _, _ := strings.Cut(f, ":")
		return name == feature
	})
}
