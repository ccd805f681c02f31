package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/sandbar-dev/sandbar/wasm"
)

// tellPython prints what in a Python script needs the native tier.
func tellPython(std stdio, asJSON bool) error {
	write := writeNeeds
	if asJSON {
		write = writeNeedsJSON
	}
	if err := write(std.out, wasm.Needs()); err != nil {
		return outputError("stdout", err)
	}
	return nil
}

func writeNeedsJSON(w io.Writer, needs []wasm.Need) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(needs)
}

func writeNeeds(w io.Writer, needs []wasm.Need) error {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, n := range needs {
		fmt.Fprintf(t, "%s\t%s\t%s\n", n.Name, n.Kind, n.Reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
