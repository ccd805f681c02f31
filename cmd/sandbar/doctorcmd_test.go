package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/native"
)

// sick is a host on which only one backend works.
func sick() *diagnosis {
	const cause, remedy = "the setting x=0\x1b[2J", "set it to 1 & more"
	return &diagnosis{
		Backend: native.Bubblewrap,
		Report: &native.Report{
			Host: native.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", UID: 1000, Container: "docker", GVisor: true},
			Findings: []native.Finding{
				{Name: "bubblewrap", Kind: native.KindBackend, Detail: "start: refused\nby somebody", Cause: cause, Remedy: remedy},
				{Name: "none", Kind: native.KindBackend, OK: true, Detail: "isolates nothing"},
				{Name: "user-namespace", Kind: native.KindFeature, Detail: "refused", Cause: cause, Remedy: remedy},
				{Name: "pidfd", Kind: native.KindFeature, OK: true},
				{Name: "gpu", Kind: native.KindFeature, Detail: "no card"},
				{Name: "bash", Kind: native.KindFeature, Detail: "not there", Remedy: "install it"},
			},
		},
	}
}

func TestDiagnosis_Table(t *testing.T) {
	const want = `linux/amd64, kernel 6.1.0, user 1000, in a container (docker), gVisor

bubblewrap  no  start: refused by somebody
none        OK  isolates nothing

user-namespace  no  refused
pidfd           OK
gpu             no  no card
bash            no  not there

bubblewrap, user-namespace:
  cause:  the setting x=0?[2J
  remedy: set it to 1 & more

bash:
  remedy: install it

The backend bubblewrap does not work here.
`
	var b bytes.Buffer
	if err := sick().writeTable(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	well := &diagnosis{OK: true, Backend: native.Userns, Report: &native.Report{Host: native.Host{OS: "darwin", Arch: "arm64", UID: -1}}}
	b.Reset()
	if err := well.writeTable(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, "darwin/arm64\n") || !strings.HasSuffix(got, "\nThe backend userns works here.\n") {
		t.Errorf("%q", got)
	}
}

func TestDiagnosis_JSON(t *testing.T) {
	var b bytes.Buffer
	if err := sick().writeJSON(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, `set it to 1 & more`) {
		t.Errorf("%q", text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &fields); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"ok": "false", "backend": `"bubblewrap"`} {
		if string(fields[name]) != want {
			t.Errorf("%s is %s", name, fields[name])
		}
	}
	if fields["host"] == nil || fields["findings"] == nil || len(fields) != 4 {
		t.Errorf("fields of %s", text)
	}
}
