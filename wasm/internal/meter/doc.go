// Package meter rewrites the WebAssembly binary of the interpreter before it is compiled. It does three things.
//
// # Metering
//
// At each loop head, that is once per iteration, the module decrements a counter and calls an imported host function
// when the counter is spent. The host function sets the counter anew through the exported global CounterName, and may
// stop the guest by panicking. The injected code is
//
//	global.get c  i32.const -1  i32.add  global.set c
//	global.get c  i32.const 0  i32.le_s  if  call tick  end
//
// which wazero's compiler turns into load, add, store, compare, branch: it forwards the value of the second global.get
// from the first, so a local to hold it gains nothing. Measured on amd64, wazero 1.12, ns per iteration of small
// loops (arithmetic; loads and stores; a call; a br_table dispatch; per head in a nest of two, four trips inside), best
// of nine:
//
//	                                    tight    mem   call  dispatch  nest
//	no metering                          1.10   1.37   1.65      1.52  0.71
//	this sequence                        1.10   1.92   1.92      1.92  1.72
//	with a local for the value           1.09   1.92   1.92      1.92  1.72
//	i64 counter                          1.37   2.47   1.93      1.93  1.72
//	branch over the call by br_if        1.37   2.49   2.19      1.94  1.86
//	test first, then decrement           1.11   1.93   2.19      2.20  1.77
//	call through one local function      1.09   1.93   1.91      2.25  1.72
//
// Differences of 0.3 between rows are the placement of the code. What remains is not the counting but the call on the
// cold side: values that live across it are kept on the stack.
//
// The test is "spent or below", not "equal to zero", so a host that sets no value, or one below zero, is called at each
// loop head and does not switch the metering off. (The counter wraps once it has gone down by 2^31.)
//
// No index changes: the counter is appended to the globals and the host function is one the module imports already.
//
// What is not metered: code without loops. The language has no other backward jump (tail calls are not accepted), so
// such code ends, but recursion may take exponential time before it does: Options.Functions adds a check to each
// function entry. A bulk instruction (memory.copy, memory.fill) is one step whatever its length; it moves 4 GiB at
// most, which takes about a second, and less where the caller limits the memory.
//
// # State
//
// The caller gives one instance to many runs by putting back the bytes of its memory and the values of its mutable
// globals. That is sound only if nothing else in an instance can change. Rewrite checks that the module has no other
// mutable state, exports the globals that are left, and refuses the rest with ErrState: see that error for the list.
//
// # Data
//
// The data section is taken off and handed to the caller, who lays the bytes into the memory image once instead of at
// each instantiation.
//
// # Trust
//
// Any bytes may be given: Rewrite checks the framing of every section and instruction, so that it and the compiler
// cannot disagree on where an instruction starts. It checks no types. What was invalid stays
// invalid, unless it was dropped, and the compiler refuses it.
//
// Source: WebAssembly Core Specification 2.0, chapter 5, Binary Format.
package meter
