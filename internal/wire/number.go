package wire

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sandbar-dev/sandbar/engine"
)

// setDuration makes the message of an option. 0 is not set, and negative is refused.
func setDuration(field string, d time.Duration) (*durationpb.Duration, error) {
	switch {
	case d < 0:
		return nil, &engine.InvalidError{Field: field, Problem: "is negative"}
	case d == 0:
		return nil, nil
	}
	return durationpb.New(d), nil
}

// ToDuration is the value of an option. Not set is 0; 9223372036.854775807s, the longest that Go has, and more are
// engine.NoTimeout. One that is negative or no duration is an *engine.InvalidError, which names field.
func ToDuration(field string, d *durationpb.Duration) (time.Duration, error) {
	switch {
	case d == nil:
		return 0, nil
	case d.CheckValid() != nil:
		return 0, &engine.InvalidError{Field: field, Problem: "is not a duration: seconds or nanoseconds are out of range"}
	case d.GetSeconds() < 0 || d.GetNanos() < 0:
		return 0, &engine.InvalidError{Field: field, Problem: "is negative"}
	}
	return d.AsDuration(), nil // the longest where it is longer
}

// toInt is an option whose type depends on the machine.
func toInt(field string, n int64) (int, error) {
	if n > math.MaxInt || n < math.MinInt {
		return 0, &engine.InvalidError{Field: field, Problem: fmt.Sprintf("is %d, more than this machine counts", n)}
	}
	return int(n), nil
}

// setInt32 is an option that travels in fewer bits than Go has.
func setInt32(field string, n int) (int32, error) {
	if n > math.MaxInt32 || n < math.MinInt32 {
		return 0, &engine.InvalidError{Field: field, Problem: fmt.Sprintf("is %d, which is out of range", n)}
	}
	return int32(n), nil
}

// clampInt is what a server says, as near as the machine can count.
func clampInt(n int64) int { return int(min(max(n, math.MinInt), math.MaxInt)) }

func clampInt32(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// setTime measures a time that passed. engine.Unknown is not set.
func setTime(d time.Duration) *durationpb.Duration {
	if d < 0 {
		return nil
	}
	return durationpb.New(d)
}

// toTime is the twin of setTime.
func toTime(d *durationpb.Duration) time.Duration {
	if d == nil || !d.IsValid() || d.AsDuration() < 0 {
		return engine.Unknown
	}
	return d.AsDuration()
}

// setFigure is a measured number. engine.Unknown is not set.
func setFigure(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// toFigure is the twin of setFigure.
func toFigure(n *int64) int64 {
	if n == nil || *n < 0 {
		return engine.Unknown
	}
	return *n
}

// The range of a Timestamp: the years 1 to 9999.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// Timestamp makes the message of t; the zero time is not set. A time that a Timestamp cannot have, which a script may give
// its files, is the nearest that it can: JSON refuses others, and the whole answer with them.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	switch s := t.Unix(); {
	case s < firstSecond:
		return &timestamppb.Timestamp{Seconds: firstSecond}
	case s > lastSecond:
		return &timestamppb.Timestamp{Seconds: lastSecond, Nanos: 999_999_999}
	}
	return timestamppb.New(t)
}

// ToTimestamp is the twin of Timestamp, in local time as package os has it. One that is not valid is the zero time.
func ToTimestamp(t *timestamppb.Timestamp) time.Time {
	if t == nil || !t.IsValid() {
		return time.Time{}
	}
	return t.AsTime().Local()
}
