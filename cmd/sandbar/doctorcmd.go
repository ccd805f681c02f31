package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/native"
)

const doctorLong = `Try what the native tier needs, and tell what works on this host and, for what does not, why and what to
do about it. Each backend runs a script; each feature is tried by itself. It takes a second, at most five,
and changes nothing.

A feature that does not work is no harm when the backend does: a host without a GPU is fine.

--python tells instead what a Python script can import or use that sends it to the native tier, and why: modules that
the wasm tier lacks (absent), modules that are of no use there (useless), and functions and classes that count when a
script calls or subclasses them (use). Compiled packages and what is found nowhere send it there too. --json then
prints an array of objects with "name", "kind" and "reason".

--json prints one object: "ok" and "backend" (the one in question), "host", and "findings", each with "name",
"kind" (backend or feature), "ok", "detail", "cause" and "remedy".

Exit codes:
    0  the backend works: the one of --backend, or else ` + string(native.Bubblewrap) + `, the default
    1  it does not
    2  the command line cannot be used
  125  the findings could not be written`

// exitUnfit is the exit code for a backend that does not work.
const exitUnfit = 1

func newDoctorCommand(std stdio) *cobra.Command {
	var backend string
	var asJSON, python bool
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Tell what works on this host, and why the rest does not",
		Long:  doctorLong,
		Example: `  sandbar doctor
  sandbar doctor --backend userns && echo fine
  sandbar doctor --python
  sandbar doctor --json | jq '.findings[] | select(.ok | not)'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if python {
				return tellPython(std, asJSON)
			}
			b := native.Backend(backend)
			if !slices.Contains(native.Backends(), b) {
				return usageErrorf("--backend: %q is not a backend; there are %s", backend, joined(native.Backends()))
			}
			return runDoctor(std, b, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&backend, "backend", string(native.Bubblewrap), "the backend that the exit code is about: "+joined(native.Backends()))
	fs.BoolVar(&python, "python", false, "tell what in a Python script needs the native tier")
	fs.BoolVar(&asJSON, "json", false, "print JSON instead of the table")
	return cmd
}

func runDoctor(std stdio, backend native.Backend, asJSON bool) error {
	stop := newStopper(context.Background())
	defer stop.close()
	d := &diagnosis{Backend: backend, Report: native.Probe(stop.ctx, nil)}
	if reason := stop.reason(); reason != nil {
		return reason
	}
	d.OK = d.Report.Backend(backend).OK
	write := d.writeTable
	if asJSON {
		write = d.writeJSON
	}
	if err := write(std.out); err != nil {
		return outputError("stdout", err)
	}
	if !d.OK {
		return &exitError{code: exitUnfit}
	}
	return nil
}

// A diagnosis is what `sandbar doctor` prints.
type diagnosis struct {
	// OK: Backend works here.
	OK      bool           `json:"ok"`
	Backend native.Backend `json:"backend"`
	*native.Report
}

func (d *diagnosis) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

// writeTable prints the findings for people, and then each cause once.
func (d *diagnosis) writeTable(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, oneLine(d.Host.String()))
	for _, kind := range []native.FindingKind{native.KindBackend, native.KindFeature} {
		fmt.Fprintln(&b)
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, f := range d.Findings {
			if f.Kind == kind {
				fmt.Fprintln(t, strings.TrimRight(fmt.Sprintf("%s\t%s\t%s", f.Name, okWord(f.OK), oneLine(f.Detail)), "\t"))
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	d.writeCauses(&b)
	fmt.Fprintf(&b, "\nThe backend %s %s here.\n", d.Backend, map[bool]string{true: "works", false: "does not work"}[d.OK])
	_, err := w.Write(b.Bytes())
	return err
}

func okWord(ok bool) string {
	if ok {
		return "OK"
	}
	return "no"
}

// writeCauses prints what stands in the way. What has the same cause is told together.
func (d *diagnosis) writeCauses(w io.Writer) {
	type reason struct{ cause, remedy string }
	names := map[reason][]string{}
	var order []reason
	for _, f := range d.Findings {
		r := reason{f.Cause, f.Remedy}
		if f.OK || r == (reason{}) {
			continue
		}
		if names[r] == nil {
			order = append(order, r)
		}
		names[r] = append(names[r], f.Name)
	}
	for _, r := range order {
		fmt.Fprintf(w, "\n%s:\n", strings.Join(names[r], ", "))
		for _, line := range []struct{ label, text string }{{"cause", r.cause}, {"remedy", r.remedy}} {
			if line.text != "" {
				fmt.Fprintf(w, "  %-7s %s\n", line.label+":", oneLine(line.text))
			}
		}
	}
}
