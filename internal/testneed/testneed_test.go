package testneed

import (
	"errors"
	"fmt"
	"testing"
)

// recorder notes what is asked of it.
type recorder struct {
	testing.TB
	did string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Skipf(f string, a ...any)  { r.did = "skip " + fmt.Sprintf(f, a...) }
func (r *recorder) Fatalf(f string, a ...any) { r.did = "fail " + fmt.Sprintf(f, a...) }

func TestFeature(t *testing.T) {
	t.Setenv("SANDBOX_REQUIRE", "userns,landlock:4,bwrap")
	missing := errors.New("missing")
	for _, tt := range []struct {
		feature string
		err     error
		want    string
	}{
		{"userns", nil, ""},
		{"userns", missing, "fail userns is required here: missing"},
		{"landlock", missing, "fail landlock is required here: missing"},
		{"gcc", missing, "skip gcc: missing"},
		{"user", missing, "skip user: missing"},
		{"", missing, "skip : missing"},
	} {
		r := &recorder{TB: t}
		Feature(r, tt.feature, tt.err)
		if r.did != tt.want {
			t.Errorf("Feature(%q, %v) did %q, want %q", tt.feature, tt.err, r.did, tt.want)
		}
	}
}
