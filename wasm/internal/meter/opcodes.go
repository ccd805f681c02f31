package meter

// Opcodes that the code names.
const (
	opBlock     = 0x02
	opLoop      = 0x03
	opIf        = 0x04
	opElse      = 0x05
	opEnd       = 0x0b
	opCall      = 0x10
	opGlobalGet = 0x23
	opGlobalSet = 0x24
	opTableSet  = 0x26
	opI32Const  = 0x41
	opI64Const  = 0x42
	opF32Const  = 0x43
	opF64Const  = 0x44
	opI32LeS    = 0x4c
	opI32Add    = 0x6a
	opRefNull   = 0xd0
	opRefFunc   = 0xd2
	opMisc      = 0xfc
	opVector    = 0xfd

	simdConst = 12

	blockEmpty = 0x40
)

// immediate is what follows an opcode.
type immediate uint8

const (
	immUnknown  immediate = iota // Not an opcode.
	immNone                      // Nothing.
	immBlock                     // A block type; opens a block.
	immElse                      // Nothing; the second half of an if.
	immEnd                       // Nothing; closes a block.
	immIndex                     // A u32.
	immIndexes                   // Two u32.
	immGlobal                    // A u32 below the number of globals.
	immMemArg                    // Alignment and offset.
	immMemLane                   // Alignment, offset and a lane.
	immLane                      // A lane: one byte.
	immZero                      // A zero byte.
	immZeros                     // Two zero bytes.
	immI32                       // A signed LEB128 of 32 bits.
	immI64                       // A signed LEB128 of 64 bits.
	imm4                         // 4 bytes.
	imm8                         // 8 bytes.
	imm16                        // 16 bytes.
	immBranches                  // A vector of labels and one more.
	immTypes                     // A vector of value types.
	immRefType                   // A reference type.
	immMisc                      // An opcode of the table misc.
	immVector                    // An opcode of the table simd.
	immState                     // Refused: it changes state that is not accounted for.
)

// opcodes has the immediates of each opcode. Missing are the other proposals: exceptions (06-0a, 18, 19, 1f), tail calls
// (12, 13), typed references (14, 15, d3-d6), garbage collection (fb), threads (fe).
var opcodes = func() (t [256]immediate) {
	set(&t, immNone, 0x00, 0x01) // unreachable, nop
	set(&t, immBlock, opBlock, opIf)
	t[opElse] = immElse
	t[opEnd] = immEnd
	set(&t, immIndex, 0x0c, 0x0d) // br, br_if
	t[0x0e] = immBranches         // br_table
	t[0x0f] = immNone             // return
	t[opCall] = immIndex
	t[0x11] = immIndexes          // call_indirect: type, table
	set(&t, immNone, 0x1a, 0x1b)  // drop, select
	t[0x1c] = immTypes            // select with types
	set(&t, immIndex, 0x20, 0x22) // local.get, set, tee
	set(&t, immGlobal, opGlobalGet, opGlobalSet)
	t[0x25] = immIndex // table.get
	t[opTableSet] = immState
	set(&t, immMemArg, 0x28, 0x3e) // loads and stores
	set(&t, immZero, 0x3f, 0x40)   // memory.size, grow
	t[opI32Const] = immI32
	t[opI64Const] = immI64
	t[opF32Const] = imm4
	t[opF64Const] = imm8
	set(&t, immNone, 0x45, 0xc4) // comparison, arithmetic, conversion, sign extension
	t[opRefNull] = immRefType
	t[0xd1] = immNone // ref.is_null
	t[opRefFunc] = immIndex
	t[opMisc] = immMisc
	t[opVector] = immVector
	return t
}()

// misc has the immediates of the opcodes behind opMisc.
var misc = [...]immediate{
	0: immNone, 1: immNone, 2: immNone, 3: immNone, // i32.trunc_sat
	4: immNone, 5: immNone, 6: immNone, 7: immNone, // i64.trunc_sat
	8:  immState, // memory.init
	9:  immState, // data.drop
	10: immZeros, // memory.copy
	11: immZero,  // memory.fill
	12: immState, // table.init
	13: immState, // elem.drop
	14: immState, // table.copy
	15: immState, // table.grow
	16: immIndex, // table.size
	17: immState, // table.fill
}

// simd has the immediates of the opcodes behind opVector. Relaxed SIMD starts at 0x100.
var simd = func() (t [256]immediate) {
	set(&t, immMemArg, 0x00, 0x0b)
	set(&t, imm16, simdConst, 0x0d) // v128.const, i8x16.shuffle
	set(&t, immNone, 0x0e, 0xff)
	set(&t, immLane, 0x15, 0x22)    // extract_lane, replace_lane
	set(&t, immMemLane, 0x54, 0x5b) // load_lane, store_lane
	set(&t, immMemArg, 0x5c, 0x5d)  // load32_zero, load64_zero
	for _, hole := range []byte{
		0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb,
		0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2, 0xee,
	} {
		t[hole] = immUnknown
	}
	return t
}()

// set gives all opcodes from first to last the same immediate.
func set(t *[256]immediate, imm immediate, first, last int) {
	for op := first; op <= last; op++ {
		t[op] = imm
	}
}
