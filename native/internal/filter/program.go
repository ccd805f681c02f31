package filter

import (
	"encoding/binary"
	"fmt"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

// Program is a classic BPF program as seccomp(2) takes it. Each instruction is a struct sock_filter.
type Program []bpf.RawInstruction

// Bytes is the program as an array of struct sock_filter, 8 bytes each, little endian as the kernels of amd64 and
// arm64 want it. len(p) is what belongs into sock_fprog.len.
func (p Program) Bytes() []byte {
	b := make([]byte, 0, 8*len(p))
	for _, ins := range p {
		b = binary.LittleEndian.AppendUint16(b, ins.Op)
		b = append(b, ins.Jt, ins.Jf)
		b = binary.LittleEndian.AppendUint32(b, ins.K)
	}
	return b
}

// Build makes the filter for a GOARCH, amd64 or arm64, on whatever machine it is called. Any other name is an
// error, the Linux names x86_64 and aarch64 too. The same name gives the same program every time.
func Build(goarch string) (Program, error) {
	code, err := compile(goarch)
	if err != nil {
		return nil, fmt.Errorf("build filter: %w", err)
	}
	p := make(Program, len(code))
	for i, s := range code {
		if p[i], err = s.ins.Assemble(); err != nil {
			return nil, fmt.Errorf("build filter: instruction %d: %w", i, err)
		}
	}
	return p, nil
}

// calls is the system call table of a GOARCH. The library knows more architectures than we have tested, and knows
// them by several names.
func calls(goarch string) (*arch.Info, error) {
	switch goarch {
	case "amd64", "arm64":
		return arch.GetInfo(goarch)
	}
	return nil, fmt.Errorf("architecture %q: only amd64 and arm64 have a filter", goarch)
}
