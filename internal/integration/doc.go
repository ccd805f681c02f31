// Package integration holds the tests that go across packages. It has no code of its own.
package integration
