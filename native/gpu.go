package native

import (
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/sandbar-dev/sandbar/engine"
)

// gpuPatterns are the device nodes of NVIDIA's driver: the cards, their control device, unified memory, and the
// capabilities of partitioned cards. Those of display (nvidia-modeset) are not among them.
var gpuPatterns = []string{"dev/nvidia[0-9]*", "dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-uvm-tools", "dev/nvidia-caps/*"}

// gpuLibraries are directories of driver libraries that do not lie below /usr, which a cell has anyway.
var gpuLibraries = []string{"run/opengl-driver", "opt/nvidia/lib64"}

// findGPU returns the device nodes and the library directories of the host, absolute. Without a card the
// error is engine.ErrNotAvailable.
func findGPU(host fs.FS) (nodes, libraries []string, err error) {
	for _, pattern := range gpuPatterns {
		names, err := fs.Glob(host, pattern)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			if info, err := fs.Stat(host, name); err == nil && info.Mode()&fs.ModeCharDevice != 0 {
				nodes = append(nodes, "/"+name)
			}
		}
	}
	isCard := func(node string) bool {
		ok, _ := path.Match("/"+gpuPatterns[0], node)
		return ok
	}
	if !slices.ContainsFunc(nodes, isCard) {
		return nil, nil, fmt.Errorf("%w: GPU: this host has no device node /dev/nvidia0; load NVIDIA's driver, or give the container its devices", engine.ErrNotAvailable)
	}
	for _, dir := range gpuLibraries {
		if info, err := fs.Stat(host, dir); err == nil && info.IsDir() {
			libraries = append(libraries, "/"+dir)
		}
	}
	return nodes, libraries, nil
}
