package integration

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Who reviews memory safety should have to read the files named *_unsafe.go and no others.
func TestImports_UnsafeOnlyInNamedFiles(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case path == filepath.Join(root, "proto", "gen"): // protoc-gen-go keeps strings of descriptors by it
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".go"), "_test")
		for _, spec := range file.Imports {
			if spec.Path.Value == `"unsafe"` && !strings.Contains(base, "_unsafe") {
				t.Errorf("%s imports unsafe, and its name does not say so", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
