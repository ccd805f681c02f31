package native

import (
	"slices"
	"testing"
)

func TestHostPath(t *testing.T) {
	for in, want := range map[string]string{
		"/tmp/sandbox-work":           "/host/dir",
		"/tmp/sandbox-work/":          "/host/dir/",
		"/tmp/sandbox-work/a/b":       "/host/dir/a/b",
		"/tmp/sandbox-works":          "/tmp/sandbox-works",
		"/tmp":                        "/tmp",
		"x/tmp/sandbox-work":          "x/tmp/sandbox-work",
		"":                            "",
		"/tmp/sandbox-work/\xff\n\"$": "/host/dir/\xff\n\"$",
	} {
		if got := hostPath(in, "/host/dir"); got != want {
			t.Errorf("hostPath(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHostEnv(t *testing.T) {
	in := []string{
		"A=/tmp/sandbox-work/a", "EMPTY=", "HOME=/tmp/sandbox-work", "PATH=/tmp/sandbox-work/.venv/bin:/usr/bin::/tmp/sandbox-work", "PWD=/tmp/sandbox-work/sub",
		"TMPDIR=/tmp", "VIRTUAL_ENV=/tmp/sandbox-work/.venv", "X=a=b",
	}
	want := []string{
		"A=/tmp/sandbox-work/a", "EMPTY=", "HOME=/host", "PATH=/host/.venv/bin:/usr/bin::/host", "PWD=/host/sub",
		"TMPDIR=/run/tmp", "VIRTUAL_ENV=/host/.venv", "X=a=b",
	}
	before := slices.Clone(in)
	if got := hostEnv(in, "/host", "/run/tmp"); !slices.Equal(got, want) {
		t.Errorf("hostEnv = %q, want %q", got, want)
	}
	if !slices.Equal(in, before) {
		t.Errorf("the caller's list is now %q", in)
	}
	for tmpdir, want := range map[string]string{"/tmp/x": "/tmp/x", "/tmp/sandbox-work/t": "/host/t", "": ""} {
		if got := hostEnv([]string{"TMPDIR=" + tmpdir}, "/host", "/run/tmp"); got[0] != "TMPDIR="+want {
			t.Errorf("TMPDIR=%s becomes %s", tmpdir, got)
		}
	}
}
