package filter

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

// Offsets in struct seccomp_data, and the bit that makes a number of amd64 one of x32.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16 // six arguments of eight bytes, the low half first

	x32Bit = 1 << 30
)

// A step is an instruction and what the golden file says about it. Every piece of code that is made here leaves by
// a return or falls through at its end, so pieces can be put behind each other as they are.
type step struct {
	ins  bpf.Instruction
	note string
}

// A span is a run of call numbers, from first up to the next span, that are judged alike.
type span struct {
	first uint32
	names []string
	errno Errno  // what every call of the span gets, if there are no rules; zero allows it
	rules []Rule // of the one call of the span, if its arguments decide
}

// compile makes the program. The library has an assembler, but that one builds for the architecture it runs on,
// lets foreign ones through to the default action, and compares all 64 bits of an argument.
func compile(goarch string) ([]step, error) {
	info, err := calls(goarch)
	if err != nil {
		return nil, err
	}
	list := spans(info)
	for _, s := range list {
		if n := len(s.code()); n > math.MaxUint8 {
			return nil, fmt.Errorf("rules of %v take %d instructions, conditional jumps reach over %d", s.names, n, math.MaxUint8)
		}
	}
	return slices.Concat([]step{
		{bpf.LoadAbsolute{Off: offArch, Size: 4}, "architecture"},
		{branch(bpf.JumpEqual, uint32(info.ID), 1, 0), ""},
		refuse(ENOSYS, "foreign architecture"),
		{bpf.LoadAbsolute{Off: offNumber, Size: 4}, "number"},
	}, search(list)), nil
}

// spans cuts the whole range of call numbers, in order.
func spans(info *arch.Info) []span {
	const unknown = "not in the table"
	rows := rulesByCall()
	var list []span
	highest := slices.Max(slices.Collect(maps.Keys(info.SyscallNumbers)))
	for nr := range uint32(highest + 2) { // one more stands for all that follow
		s := span{first: nr, names: []string{unknown}, errno: ENOSYS}
		if name, ok := info.SyscallNumbers[int(nr)]; ok {
			s = span{first: nr, names: []string{name}}
			switch r := rows[name]; {
			case len(r) > 0 && len(r[0].conds) == 0:
				s.errno = r[0].Errno
			default:
				s.rules = r
			}
		}
		list = merge(list, s)
	}
	if info == arch.X86_64 { // judged like the span before, named for the golden file
		list = append(list, span{first: x32Bit, names: []string{"x32"}, errno: ENOSYS})
	}
	return list
}

// merge appends s, or makes the last span longer if that one is judged in the same way.
func merge(list []span, s span) []span {
	if len(list) == 0 {
		return append(list, s)
	}
	last := &list[len(list)-1]
	if last.errno != s.errno || len(last.rules)+len(s.rules) > 0 {
		return append(list, s)
	}
	if !slices.Contains(last.names, s.names[0]) {
		last.names = append(last.names, s.names[0])
	}
	return list
}

// search finds the span of a number, which is loaded, by halving. On kernels from 5.11 on it costs nothing for
// calls that are always allowed: the kernel works that out once, when the filter is installed.
func search(list []span) []step {
	if len(list) == 1 {
		return list[0].code()
	}
	mid := len(list) / 2
	low, high := search(list[:mid]), search(list[mid:])
	head := []step{{branch(bpf.JumpGreaterOrEqual, list[mid].first, len(low), 0), ""}}
	if len(low) > math.MaxUint8 { // conditional jumps have eight bits, the others have 32
		head = []step{
			{branch(bpf.JumpGreaterOrEqual, list[mid].first, 0, 1), ""},
			{bpf.Jump{Skip: uint32(len(low))}, ""},
		}
	}
	return slices.Concat(head, low, high)
}

// code judges the calls of a span: the first rule that holds decides.
func (s span) code() []step {
	switch {
	case s.errno != 0:
		return []step{refuse(s.errno, strings.Join(s.names, " "))}
	case len(s.rules) == 0:
		note := s.names[0]
		if n := len(s.names); n > 1 {
			note += " to " + s.names[n-1]
		}
		return []step{{allow, note}}
	}
	var code []step
	for _, r := range s.rules {
		code = append(code, r.code()...)
	}
	return append(code, step{allow, s.names[0] + " otherwise"})
}

// code returns the errno if all conditions hold, else it falls through at its end.
func (r Rule) code() []step {
	code := []step{refuse(r.Errno, r.Call+": "+r.When)}
	for _, c := range slices.Backward(r.conds) {
		code = c.code(code)
	}
	return code
}

// code runs then if the condition holds, else it goes past the end of then.
func (c cond) code(then []step) []step {
	code := []step{{bpf.LoadAbsolute{Off: uint32(offArgs + 8*c.arg), Size: 4}, fmt.Sprintf("argument %d, low half", c.arg)}}
	if c.mask != 0 {
		code = append(code, step{bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.mask}, ""})
	}
	for i, v := range c.vals {
		rest := len(c.vals) - 1 - i // comparisons that follow
		found, missed := rest, 0
		if c.not {
			found = rest + len(then)
		} else if rest == 0 {
			missed = len(then)
		}
		code = append(code, step{branch(bpf.JumpEqual, v, found, missed), ""})
	}
	return append(code, then...)
}

// branch skips yes or no instructions. Both are below 256: search and compile see to it.
func branch(test bpf.JumpTest, val uint32, yes, no int) bpf.JumpIf {
	return bpf.JumpIf{Cond: test, Val: val, SkipTrue: uint8(yes), SkipFalse: uint8(no)}
}

var allow = bpf.RetConstant{Val: uint32(seccomp.ActionAllow)}

func refuse(errno Errno, note string) step {
	return step{bpf.RetConstant{Val: uint32(seccomp.ActionErrno) | uint32(errno)}, note}
}
