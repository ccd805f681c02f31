package filter

import (
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// judge is the filter once more, as plain code and with numbers of its own. It shares with the package the table of
// numbers and the names of calls that are refused whole; those two have golden files.
func judge(goarch string, c call) action {
	native, table := uint32(auditX86_64), arch.X86_64.SyscallNumbers
	if goarch == "arm64" {
		native, table = auditAARCH64, arch.AARCH64.SyscallNumbers
	}
	name, known := table[int(c.nr)]
	if c.arch != native || !known {
		return errnoAction(ENOSYS)
	}
	if errno := refusedWhole[name]; errno != 0 {
		return errnoAction(errno)
	}
	if errno := judgeArguments(name, c.args); errno != 0 {
		return errnoAction(errno)
	}
	return allowed
}

var refusedWhole = func() map[string]Errno {
	m := make(map[string]Errno)
	for _, r := range Denied() {
		if r.When == "" {
			m[r.Call] = r.Errno
		}
	}
	return m
}()

// judgeArguments gives zero for what is allowed.
func judgeArguments(name string, args [6]uint64) Errno {
	var a [6]int32 // as a kernel function with int parameters gets them
	for i := range a {
		a[i] = int32(args[i])
	}
	refused := false
	switch name {
	case "clone":
		for _, flag := range []int32{0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000} {
			refused = refused || a[0]&flag != 0
		}
	case "unshare":
		rest := a[0]
		for _, flag := range []int32{0x100, 0x200, 0x400, 0x800, 0x10000, 0x40000} {
			rest &^= flag
		}
		refused = rest != 0
	case "socket", "socketpair":
		return judgeSocket(a[0], a[1], a[2])
	case "ioctl":
		refused = slices.Contains([]int32{0x5412, 0x541c, 0x541d, 0x5423, 0x4b47, 0x4b49}, a[1])
	case "personality":
		rest := a[0] &^ 0x8 &^ 0x20000 &^ 0x40000
		refused = a[0] != -1 && rest != 0
	case "prctl":
		refused = a[0] == 35
	case "seccomp":
		refused = a[1]>>3&1 == 1
	case "chmod", "fchmod", "creat", "mknod":
		refused = setsID(a[1])
	case "fchmodat", "fchmodat2", "mknodat":
		refused = setsID(a[2])
	case "open":
		refused = creates(a[1]) && setsID(a[2])
	case "openat":
		refused = creates(a[2]) && setsID(a[3])
	}
	if refused {
		return EPERM
	}
	return 0
}

func setsID(mode int32) bool { return mode&0o4000 == 0o4000 || mode&0o2000 == 0o2000 }

func creates(flags int32) bool { return flags>>6&1 == 1 || flags>>22&1 == 1 }

func judgeSocket(family, kind, protocol int32) Errno {
	switch family {
	case 1:
		return 0
	case 16:
		if protocol != 0 {
			return EAFNOSUPPORT
		}
		return 0
	case 2, 10:
		if kind %= 16; kind < 0 {
			kind += 16
		}
		if kind != 1 && kind != 2 {
			return EPERM
		}
		switch protocol {
		case 0, 1, 6, 17, 58:
			return 0
		}
		return EPROTONOSUPPORT
	}
	return EAFNOSUPPORT
}

// interesting are values on the edges of rules.
var interesting = func() []uint64 {
	low := []uint64{
		0, 1, 2, 3, 5, 6, 8, 9, 10, 15, 16, 17, 35, 38, 58, 132, 262, 0x80, 0x400, 0x801, 0x80003, 0x5411, 0x5412, 0x541c, 0x541d,
		0x5423, 0x4b47, 0x4b49, 0o100, 0o644, 0o2755, 0o4755, 0o6000, 0o100644, 0o20000002, 0o20200002, 0x20000, 0x40000, 0x50f00, 0x400000, 0x7fffffff, 0x10000000, 0x80000000, 0xfffffffe, 0xffffffff,
	}
	values := slices.Clone(low)
	for _, v := range low {
		values = append(values, v|0xffffffff00000000, v|1<<32)
	}
	return values
}()

// TestProgram_model compares filter and model for every number of a call up to 1023, with arguments on the edges.
func TestProgram_model(t *testing.T) {
	onEach(t, func(t *testing.T, goarch string, m machine) {
		for nr := range uint32(1024) {
			for i, v := range interesting {
				if nr > 512 && i > 8 { // nothing there has a name
					break
				}
				w := interesting[(i*7+int(nr))%len(interesting)]
				compare(t, goarch, m, call{m.arch, nr, [6]uint64{v, w, v, w, v, w}})
			}
		}
		for _, name := range []string{"socket", "socketpair"} {
			for _, family := range interesting {
				for kind := range uint64(16) {
					for _, protocol := range interesting {
						c, _ := m.of(name, family, kind|0x80800, protocol)
						compare(t, goarch, m, c)
					}
				}
			}
		}
	})
}

func compare(t *testing.T, goarch string, m machine, c call) {
	if got, want := m.run(t, c), judge(goarch, c); got != want {
		t.Errorf("%s, call %+v: filter %v, model %v", goarch, c, got, want)
	}
}

// FuzzProgram compares filter and model.
func FuzzProgram(f *testing.F) {
	machines := map[bool]machine{false: newMachine(f, "amd64"), true: newMachine(f, "arm64")}
	for _, arm := range []bool{false, true} {
		m := machines[arm]
		for _, row := range argumentRows {
			for _, args := range [][]uint64{row.args, row.twin} {
				c, _ := m.of(row.call, args...)
				f.Add(arm, c.arch, c.nr, c.args[0], c.args[1], c.args[2])
				f.Add(arm, c.arch, c.nr, c.args[0]|1<<32, c.args[1]|1<<33, c.args[2]|1<<63)
				f.Add(arm, c.arch, c.nr|0x40000000, c.args[0], c.args[1], c.args[2])
			}
		}
		for _, other := range []uint32{auditX86_64, auditI386, auditAARCH64, auditARM} {
			f.Add(arm, other, uint32(39), uint64(0), uint64(0), uint64(0))
		}
	}
	f.Fuzz(func(t *testing.T, arm bool, auditArch, nr uint32, a, b, c uint64) {
		goarch := goarches[0]
		if arm {
			goarch = goarches[1]
		}
		compare(t, goarch, machines[arm], call{auditArch, nr, [6]uint64{a, b, c, a, b, c}})
	})
}
