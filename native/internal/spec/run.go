package spec

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Start is a run. Its descriptors are stdin, stdout and stderr, or none when Terminal is set.
type Start struct {
	// Path is the program, Argv its arguments with its own name first.
	Path string
	Argv []string
	Env  []string
	Dir  string
	// ScriptName is the base name of the file in ScriptDir that holds Script.
	ScriptName string
	Script     []byte
	// Background: the run ends when its last process has ended, not its first.
	Background bool
	// Rows and Cols are the size of the terminal; zero for none.
	Rows, Cols uint16
}

// Exited is how a run ended.
type Exited struct {
	// Code is the exit code, Signal the number of the signal that ended it; one of them is zero.
	Code, Signal int
	// Wall is from the start of the script's process to its end, or to that of the last one in the background.
	Wall time.Duration
	// CPU is the processor time, user and system, of the processes that somebody waited for: getrusage(2).
	CPU time.Duration
	// Own is the processor time of the init meanwhile: a part of what the control group counts.
	Own time.Duration
	// MaxRSS is the most that a single process had in memory, in bytes.
	MaxRSS int64
	// Dirt says what of the run could not be taken away. Empty: the cell can serve another run.
	Dirt string
}

// Failed is why a step could not be done.
type Failed struct {
	Step string
	// Errno is zero when the error is none of the system's.
	Errno int
	Text  string
}

// Append appends the encoding to b.
func (s *Start) Append(b []byte) []byte {
	b = appendString(b, s.Path)
	b = appendStrings(b, s.Argv)
	b = appendStrings(b, s.Env)
	b = appendString(b, s.Dir)
	b = appendString(b, s.ScriptName)
	flags := byte(0)
	if s.Background {
		flags = 1
	}
	b = append(b, flags)
	b = binary.LittleEndian.AppendUint16(b, s.Rows)
	b = binary.LittleEndian.AppendUint16(b, s.Cols)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Script)))
	return append(b, s.Script...)
}

// ParseStart decodes a Start. Script is part of b.
func ParseStart(b []byte) (*Start, error) {
	d := decoder{b: b}
	s := &Start{
		Path: d.string(), Argv: d.strings(), Env: d.strings(), Dir: d.string(), ScriptName: d.string(),
		Background: d.flag(), Rows: d.uint16(), Cols: d.uint16(), Script: d.bytes(),
	}
	if err := d.end(KindStart); err != nil {
		return nil, err
	}
	return s, nil
}

// Append appends the encoding to b.
func (e *Exited) Append(b []byte) []byte {
	b = append(b, byte(e.Code), byte(e.Signal))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Wall))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.CPU))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Own))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.MaxRSS))
	return appendString(b, e.Dirt)
}

// ParseExited decodes an Exited.
func ParseExited(b []byte) (*Exited, error) {
	d := decoder{b: b}
	e := &Exited{
		Code: int(d.byte()), Signal: int(d.byte()),
		Wall: time.Duration(d.uint64()), CPU: time.Duration(d.uint64()), Own: time.Duration(d.uint64()),
		MaxRSS: int64(d.uint64()), Dirt: d.string(),
	}
	if err := d.end(KindExited); err != nil {
		return nil, err
	}
	if e.Signal > maxSignal || min(e.Wall, e.CPU, e.Own) < 0 || e.MaxRSS < 0 || (e.Code != 0 && e.Signal != 0) {
		return nil, fmt.Errorf("%w: %+v", ErrProtocol, *e)
	}
	return e, nil
}

const maxSignal = 64

// Append appends the encoding to b.
func (f *Failed) Append(b []byte) []byte {
	b = appendString(b, f.Step)
	b = appendString(b, f.Text)
	return binary.LittleEndian.AppendUint32(b, uint32(f.Errno))
}

// ParseFailed decodes a Failed.
func ParseFailed(b []byte) (*Failed, error) {
	d := decoder{b: b}
	f := &Failed{Step: d.string(), Text: d.string(), Errno: int(d.uint32())}
	if err := d.end(KindFailed); err != nil {
		return nil, err
	}
	if f.Errno < 0 || f.Errno > maxErrno {
		return nil, fmt.Errorf("%w: errno %d", ErrProtocol, f.Errno)
	}
	return f, nil
}

// maxErrno is the largest error number that a kernel returns: MAX_ERRNO of include/linux/err.h.
const maxErrno = 4095
