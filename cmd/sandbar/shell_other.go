//go:build !unix

package main

import "os"

var shellSignals = []os.Signal{os.Interrupt}

func isResize(os.Signal) bool { return false }
