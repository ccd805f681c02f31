package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// durationValue is a flag: a Go duration ("1m30s"), or seconds ("90", "2.5").
type durationValue struct {
	d *time.Duration
	// none allows the word "none", which stands for engine.NoTimeout.
	none bool
}

func (v durationValue) Type() string { return "duration" }

func (v durationValue) String() string {
	if v.d == nil || *v.d == 0 {
		return ""
	}
	return v.d.String()
}

func (v durationValue) Set(s string) error {
	if v.none && s == "none" {
		*v.d = engine.NoTimeout
		return nil
	}
	d, err := parseDuration(s)
	if err != nil {
		return err
	}
	*v.d = d
	return nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		d, err = parseSeconds(s)
	}
	if err != nil {
		return 0, errors.New(`not a duration: want seconds, or a number with a unit such as "500ms" or "1m30s"`)
	}
	if d <= 0 {
		return 0, errors.New("must be more than 0")
	}
	return d, nil
}

// parseSeconds parses plain decimal numbers: no exponent, no hexadecimal, no "inf".
func parseSeconds(s string) (time.Duration, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || seconds*float64(time.Second) >= math.MaxInt64 {
		return 0, strconv.ErrRange
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// sizeValue is a flag: bytes, with an optional unit.
type sizeValue struct{ n *int64 }

func (v sizeValue) Type() string { return "size" }

func (v sizeValue) String() string {
	if v.n == nil || *v.n == 0 {
		return ""
	}
	return strconv.FormatInt(*v.n, 10)
}

func (v sizeValue) Set(s string) error {
	n, err := parseSize(s)
	if err != nil {
		return err
	}
	*v.n = n
	return nil
}

// units are those of IEC 80000-13 and SI, without the B: powers of 1,024 with an i, of 1,000 without.
var units = []struct {
	suffix string
	factor int64
}{
	{"Ki", 1 << 10},
	{"Mi", 1 << 20},
	{"Gi", 1 << 30},
	{"K", 1e3},
	{"M", 1e6},
	{"G", 1e9},
}

func parseSize(s string) (int64, error) {
	digits, factor := s, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			digits, factor = rest, u.factor
			break
		}
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, errors.New(`not a size: want bytes, or a whole number with a unit such as "64Mi" or "1G"`)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/factor {
		return 0, errors.New("too large")
	}
	if n == 0 {
		return 0, errors.New("must be more than 0")
	}
	return n * factor, nil
}

// envValue is a flag that may be given again: KEY=VALUE. A KEY alone is refused, so that nothing of the
// host's environment reaches a script without being written out.
type envValue struct{ env map[string]string }

func (v envValue) Type() string   { return "KEY=VALUE" }
func (v envValue) String() string { return "" }

func (v envValue) Set(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return errors.New("want KEY=VALUE")
	}
	v.env[key] = value
	return nil
}

// formatSize writes a number of bytes for people.
func formatSize(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
