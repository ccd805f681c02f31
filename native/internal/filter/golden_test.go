package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"
)

// checkGolden compares with a golden file, or writes it with -update.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; if that is meant, run the test with -update and explain it in the commit (-want +got):\n%s", file, diff)
	}
}

// dump is the program as a person reads it: jumps name the line they go to.
func dump(p Program, notes []step) string {
	var b strings.Builder
	for i, raw := range p {
		text := fmt.Sprintf("%3d  %s", i, instruction(i, raw.Disassemble()))
		if note := notes[i].note; note != "" {
			text = fmt.Sprintf("%-40s ; %s", text, note)
		}
		fmt.Fprintln(&b, text)
	}
	return b.String()
}

// tests has what the disassembler makes of the comparisons: it turns them round where that saves a jump.
var tests = map[bpf.JumpTest]string{bpf.JumpEqual: "==", bpf.JumpNotEqual: "!=", bpf.JumpGreaterOrEqual: ">=", bpf.JumpLessThan: "<"}

func instruction(at int, ins bpf.Instruction) string {
	next := at + 1
	switch ins := ins.(type) {
	case bpf.LoadAbsolute:
		return fmt.Sprintf("load  [%d]", ins.Off)
	case bpf.ALUOpConstant:
		return fmt.Sprintf("and   %#x", ins.Val)
	case bpf.Jump:
		return fmt.Sprintf("goto  %d", next+int(ins.Skip))
	case bpf.JumpIf:
		return fmt.Sprintf("if    %s %s then %d else %d", tests[ins.Cond], number(ins.Val), next+int(ins.SkipTrue), next+int(ins.SkipFalse))
	case bpf.RetConstant:
		return "return " + action(ins.Val).String()
	}
	return fmt.Sprintf("%T %v", ins, ins)
}

func number(v uint32) string {
	if v < 1000 {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%#x", v)
}

// TestBuild_golden shows every change of the programs.
func TestBuild_golden(t *testing.T) {
	for _, goarch := range goarches {
		t.Run(goarch, func(t *testing.T) {
			notes, err := compile(goarch)
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, goarch+".golden", dump(mustBuild(t, goarch), notes))
		})
	}
}

// TestBuild_calls has every call of the table, so that a number which is new in the library shows up and somebody
// decides about it.
func TestBuild_calls(t *testing.T) {
	rows := rulesByCall()
	for _, goarch := range goarches {
		t.Run(goarch, func(t *testing.T) {
			info, err := calls(goarch)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, nr := range slices.Sorted(maps.Keys(info.SyscallNumbers)) {
				name, verdict := info.SyscallNumbers[nr], "allowed"
				switch r := rows[name]; {
				case len(r) > 0 && r[0].When == "":
					verdict = r[0].Errno.String()
				case len(r) > 0:
					verdict = "by argument"
				}
				fmt.Fprintf(&b, "%3d %-30s %s\n", nr, name, verdict)
			}
			checkGolden(t, goarch+".calls.golden", b.String())
		})
	}
}

// TestDenied_golden is the list as the documentation shows it.
func TestDenied_golden(t *testing.T) {
	var b strings.Builder
	for _, r := range Denied() {
		what := r.Call
		if r.When != "" {
			what += " if " + r.When
		}
		fmt.Fprintf(&b, "%s: %s\n    %s: %s\n", r.Class, what, r.Errno, r.Reason)
	}
	checkGolden(t, "denied.golden", b.String())
}

// TestDenied_rows: each row is complete, and names a call that some filter has.
func TestDenied_rows(t *testing.T) {
	conditional := make(map[string]bool)
	for i, r := range Denied() {
		if r.Call == "" || r.Class == "" || r.Errno == 0 || r.Reason == "" || strings.Contains(r.Reason, "\n") {
			t.Errorf("row %d is not complete: %+v", i, r)
		}
		if (r.When == "") != (len(r.conds) == 0) && r.Call != "*" {
			t.Errorf("%s: When %q does not fit %d conditions", r.Call, r.When, len(r.conds))
		}
		if len(r.conds) == 0 && r.Call != "*" && slices.ContainsFunc(Denied()[:i], func(o Rule) bool { return o.Call == r.Call }) {
			t.Errorf("%s has two rows, one of them without a condition", r.Call)
		}
		conditional[r.Call] = len(r.conds) > 0
		known := r.Call == "*"
		for _, goarch := range goarches {
			info, err := calls(goarch)
			if err != nil {
				t.Fatal(err)
			}
			_, ok := info.SyscallNames[r.Call]
			known = known || ok
		}
		if !known {
			t.Errorf("no architecture has a call %q", r.Call)
		}
	}
	for _, call := range []string{"clone", "unshare", "socket", "socketpair", "ioctl", "personality", "prctl", "seccomp"} {
		if !conditional[call] {
			t.Errorf("%s is not refused by argument", call)
		}
	}
}

// TestProgram_size keeps the program below BPF_MAXINSNS, 4096, with which the kernel refuses it.
func TestProgram_size(t *testing.T) {
	for _, goarch := range goarches {
		if n := len(mustBuild(t, goarch)); n >= 4096 {
			t.Errorf("program of %s has %d instructions", goarch, n)
		} else {
			t.Logf("%s: %d instructions", goarch, n)
		}
	}
}

// TestProgram_kernelSubset keeps to the instructions that the kernel takes in a filter for system calls: words of
// struct seccomp_data, and no fall off the end.
func TestProgram_kernelSubset(t *testing.T) {
	const dataSize = 64
	for _, goarch := range goarches {
		p := mustBuild(t, goarch)
		for i, raw := range p {
			switch ins := raw.Disassemble().(type) {
			case bpf.LoadAbsolute:
				if ins.Size != 4 || ins.Off%4 != 0 || ins.Off >= dataSize {
					t.Errorf("%s: instruction %d loads %d bytes at %d", goarch, i, ins.Size, ins.Off)
				}
			case bpf.JumpIf:
				if i+1+int(max(ins.SkipTrue, ins.SkipFalse)) >= len(p) {
					t.Errorf("%s: instruction %d jumps past the end", goarch, i)
				}
			case bpf.Jump, bpf.ALUOpConstant, bpf.RetConstant:
			default:
				t.Errorf("%s: instruction %d is a %T", goarch, i, ins)
			}
		}
	}
}

// TestProgram_Bytes checks the layout against struct sock_filter of the kernel's uapi/linux/filter.h.
func TestProgram_Bytes(t *testing.T) {
	p := Program{{Op: 0x1234, Jt: 5, Jf: 6, K: 0x789abcde}, {Op: 6, K: 1}}
	want := []byte{0x34, 0x12, 5, 6, 0xde, 0xbc, 0x9a, 0x78, 6, 0, 0, 0, 1, 0, 0, 0}
	if got := p.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("Bytes() = % x, want % x", got, want)
	}
	b := mustBuild(t, "amd64").Bytes()
	if got, want := binary.LittleEndian.Uint32(b[4:]), uint32(4); got != want {
		t.Errorf("the first instruction loads at %d, want %d", got, want)
	}
}

func TestBuild_unknownArchitecture(t *testing.T) {
	for _, goarch := range []string{"", "386", "arm", "x32", "x86_64", "aarch64", "AMD64", "riscv64", "s390x"} {
		p, err := Build(goarch)
		if p != nil || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", goarch)) {
			t.Errorf("Build(%q) = %d instructions, %v; want an error naming it", goarch, len(p), err)
		}
	}
}
