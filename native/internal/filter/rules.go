package filter

import (
	"fmt"
	"slices"
)

// Errno is an error number of Linux on amd64 and arm64. syscall.Errno is not used, because its names stand for
// other numbers on other systems, and the filter is built there too.
type Errno uint16

// The error numbers that the filter gives, of errno(3).
const (
	EPERM           Errno = 1
	ENOSYS          Errno = 38
	EPROTONOSUPPORT Errno = 93
	EAFNOSUPPORT    Errno = 97
)

// String is the name of the error number.
func (e Errno) String() string {
	switch e {
	case EPERM:
		return "EPERM"
	case ENOSYS:
		return "ENOSYS"
	case EPROTONOSUPPORT:
		return "EPROTONOSUPPORT"
	case EAFNOSUPPORT:
		return "EAFNOSUPPORT"
	}
	return fmt.Sprintf("errno %d", uint16(e))
}

// Rule is one row of the deny-list.
type Rule struct {
	// Call is the name of the system call, or "*" for the rules that hold for every call.
	Call string
	// When says for which calls the rule holds, in words. Empty means always.
	When string
	// Class groups the rows by what they keep out, such as "mount" or "sockets".
	Class string
	// Errno is what the caller gets.
	Errno Errno
	// Reason says in one line why the call is refused, or why with this errno.
	Reason string

	conds []cond // all must hold; none means that the rule always holds
}

// cond looks at one argument: its low 32 bits, as far as mask lets them through.
type cond struct {
	arg  int    // 0 to 5
	mask uint32 // zero means all bits
	not  bool   // holds for values that are not in vals
	vals []uint32
}

func is(arg int, vals ...uint32) cond    { return cond{arg: arg, vals: vals} }
func isNot(arg int, vals ...uint32) cond { return cond{arg: arg, vals: vals, not: true} }

// anyBit holds if the argument has at least one of the bits.
func anyBit(arg int, bits uint32) cond { return isNot(arg, 0).masked(bits) }

func (c cond) masked(mask uint32) cond {
	c.mask = mask
	return c
}

// Denied gives the deny-list, the same for every architecture: first the rules for every call, then the rows for
// calls. A call that one architecture does not have has no effect in its filter. Where a call has several rows,
// the first that holds decides. The slice is the caller's own.
func Denied() []Rule {
	return slices.Concat(everyCall(), wholeCalls(), argumentRules())
}

// rulesByCall leaves out the rules for every call, which the program holds as its shape and not as rows.
func rulesByCall() map[string][]Rule {
	m := make(map[string][]Rule)
	for _, r := range slices.Concat(wholeCalls(), argumentRules()) {
		m[r.Call] = append(m[r.Call], r)
	}
	return m
}
