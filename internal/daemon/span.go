package daemon

import (
	"errors"
	"fmt"
	"time"
)

// noEnd is the value of a span that is "none".
const noEnd time.Duration = -1

// spanValue is a flag for a time: a Go duration.
type spanValue struct {
	d     *time.Duration
	least time.Duration
	// none allows the word "none", which stands for noEnd.
	none bool
}

// Type implements pflag.Value.
func (v *spanValue) Type() string { return "duration" }

// String implements pflag.Value.
func (v *spanValue) String() string {
	switch {
	case v.d == nil:
		return ""
	case *v.d == noEnd:
		return "none"
	}
	return v.d.String()
}

// Set implements pflag.Value.
func (v *spanValue) Set(s string) error {
	if v.none && s == "none" {
		*v.d = noEnd
		return nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return errors.New(`is not a time such as "30s" or "1h30m"`)
	case d < v.least:
		return fmt.Errorf("is less than %s", v.least)
	}
	*v.d = d
	return nil
}
