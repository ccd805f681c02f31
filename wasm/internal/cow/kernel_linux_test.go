package cow

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// reserves: address space is reserved, so a memory cannot grow past its reservation.
const reserves = true

func fds(tb testing.TB) int {
	tb.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return len(entries)
}

func mappings(tb testing.TB) (all, ofImages int) {
	tb.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Count(maps, []byte("\n")), bytes.Count(maps, []byte("sandbar-image"))
}

// withoutPagemap makes im as it is on a kernel that cannot tell which pages a memory has of its own.
func withoutPagemap(t *testing.T, im *Image) {
	if im.pagemap != nil {
		if err := im.pagemap.Close(); err != nil {
			t.Fatal(err)
		}
	}
	im.pagemap = nil
}

// Not even this process can change an image.
func TestImage_Sealed(t *testing.T) {
	im := newTestImage(t, 2)
	before := bytes.Clone(im.Bytes())
	tests := []struct {
		name string
		do   func() error
	}{
		{"write", func() error { _, err := im.file.WriteAt([]byte("x"), 0); return err }},
		{"append", func() error { _, err := im.file.WriteAt([]byte("x"), 2*WasmPage); return err }},
		{"shrink", func() error { return im.file.Truncate(WasmPage) }},
		{"grow", func() error { return im.file.Truncate(3 * WasmPage) }},
		{"punch a hole", func() error {
			return unix.Fallocate(int(im.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, PageSize)
		}},
		{"map to write", func() error {
			_, err := unix.Mmap(int(im.file.Fd()), 0, WasmPage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			return err
		}},
		{"unseal", func() error {
			_, err := unix.FcntlInt(im.file.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE)
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.do(); !errors.Is(err, unix.EPERM) {
				t.Errorf("gave %v, want EPERM", err)
			}
			if at := differs(im.Bytes(), before); at >= 0 {
				t.Errorf("the image has changed at %d", at)
			}
		})
	}
}

func TestImage_CloseOnExec(t *testing.T) {
	im := newTestImage(t, 1)
	files := []*os.File{im.file}
	if im.pagemap != nil {
		files = append(files, im.pagemap)
	}
	for _, f := range files {
		flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s: flags %#x, %v", f.Name(), flags, err)
		}
	}
}

// All mappings and descriptors are gone when memories are freed and the image is closed.
func TestMemory_NothingIsLeft(t *testing.T) {
	descriptors := fds(t)
	all, ofImages := mappings(t)
	for range 20 {
		im, err := NewImage(4*WasmPage, []Piece{{Bytes: []byte("x")}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			m, err := im.NewMemory(1<<32, 1<<32)
			if err != nil {
				t.Fatal(err)
			}
			touch(m, i, 1)
			if i%2 == 0 {
				m.Reallocate(uint64(5+i) * WasmPage)
			} else if err := m.Reset(); err != nil {
				t.Fatal(err)
			}
			m.Free()
		}
		if err := im.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := fds(t); after != descriptors {
		t.Errorf("%d descriptors before, %d after", descriptors, after)
	}
	allAfter, ofImagesAfter := mappings(t)
	if ofImagesAfter != ofImages {
		t.Errorf("%d mappings of images before, %d after", ofImages, ofImagesAfter)
	}
	// The Go runtime maps some for itself meanwhile.
	if allAfter > all+100 {
		t.Errorf("%d mappings before, %d after", all, allAfter)
	}
}

func TestMemory_Dirty(t *testing.T) {
	im := newTestImage(t, 160) // 2,560 pages
	m := newTestMemory(t, im, 1<<30, 1<<30)
	if _, ok := m.dirty(); !ok {
		if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "pagemap-scan") {
			t.Fatal("PAGEMAP_SCAN does not work, and this kernel has it")
		}
		t.Skip("the kernel does not tell which pages a memory has of its own (Linux 6.7)")
	}
	const page = PageSize
	bytes.Count(content(m), []byte{0}) // a look at a page does not make it the memory's own
	if got := m.Dirty(); len(got) != 0 {
		t.Errorf("after reads: %v", got)
	}
	b := content(m)
	b[0], b[3*page], b[4*page], b[im.Size()-1] = 1, 1, 1, 1
	want := []Range{{0, page}, {3 * page, 5 * page}, {im.Size() - page, im.Size()}}
	if got := m.Dirty(); !slices.Equal(got, want) {
		t.Errorf("Dirty() = %v, want %v", got, want)
	}
	m.Reallocate(im.Size() + WasmPage)[im.Size()] = 1
	if got := m.Dirty(); !slices.Equal(got, want) {
		t.Errorf("grown: Dirty() = %v, want %v", got, want)
	}
	for count, all := range map[int]bool{maxRegions: true, maxRegions + 1: false, 2 * maxRegions: false, 1200: false} {
		m := newTestMemory(t, im, 1<<30, 1<<30)
		touch(m, count, 2)
		if ranges, ok := m.dirty(); ok != all || ok && len(ranges) != count {
			t.Errorf("%d separate pages: %d ranges, %v", count, len(ranges), ok)
		}
	}
}
