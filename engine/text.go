package engine

import (
	"bytes"
	"strings"
	"unicode"
)

// replacement stands for each run of bytes that is not UTF-8.
const replacement = "\uFFFD"

// text makes a string of output. It never fails: what is not UTF-8 is replaced.
func text(b []byte) string { return strings.ToValidUTF8(string(b), replacement) }

// maxLastLine keeps an error message to about a screen's width.
const maxLastLine = 200

// lastLine is the last line of b that is not blank, fit for an error message: the script chose these
// bytes, so control characters, which terminals act on, are replaced.
func lastLine(b []byte) string {
	b = bytes.TrimRight(b, " \t\r\n")
	b = bytes.TrimSpace(b[bytes.LastIndexByte(b, '\n')+1:])
	if len(b) > maxLastLine {
		b = b[:maxLastLine]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text(b))
}
