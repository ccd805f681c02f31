// Package starter starts a script without a cell: as a child of this program, in a session of its own
// (setsid(2)), with resource limits that this program does not have.
//
// Limits cannot be set from outside everywhere, and a shell's ulimit knows other units and changes the
// environment. So this program is started again, with Arg as its first argument; the package's initialisation
// takes that process over before main, sets the limits and executes the script's interpreter. The two talk over
// two pipes:
//
//	parent                               child
//	 |--- Request (JSON), then closed ---->|  what to execute
//	 |<-- Ready, 9 bytes ------------------|  all is set; now comes execve
//	 |<-- (closed) ------------------------|  it has been executed
//	 |<-- Error (JSON) --------------------|  or has not, with or without the Ready before it
//
// A child that ends without a Ready never executed anything. It tells the processor time that the child has used: the
// system counts that as the script's.
package starter

// Arg is the first argument of this program when it is to become a script.
const Arg = "sandbar-script-start"

// The child's descriptors.
const (
	fdRequest = 3
	fdStatus  = 4
)
