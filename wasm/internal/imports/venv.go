package imports

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// What is read of .pth files.
const (
	maxPathFiles = 64
	maxPathBytes = 64 << 10
)

// SitePackages returns the folders that a virtual environment adds to sys.path, in order: each site-packages of it,
// followed by what the .pth files in it name. Of these, only folders in the work directory count, relative to it like
// everything here; workDir is where scripts see it. Lines with code are left out. A lib64 that is lib by another name
// does not count twice. At most 64 folders are returned.
func SitePackages(files Files, venv, workDir string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, lib := range []string{"lib", "lib64"} {
		listing, err := files.List(join(venv, lib))
		if err != nil {
			return nil, fmt.Errorf("list %s of the virtual environment: %w", lib, err)
		}
		slices.Sort(listing.Names)
		for _, name := range listing.Names {
			if !strings.HasPrefix(name, "python3") {
				continue
			}
			if out, err = addSite(files, out, join(venv, lib+"/"+name+"/site-packages"), workDir, seen); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// addSite adds a site-packages and what its .pth files name. What was seen are the names in those before.
func addSite(files Files, out []string, dir, workDir string, seen map[string]bool) ([]string, error) {
	listing, err := files.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", clean(dir), err)
	}
	if !listing.Exists || len(out) >= maxFolders || slices.Contains(out, dir) {
		return out, nil
	}
	slices.Sort(listing.Names)
	names := strings.Join(listing.Names, "/")
	if seen[names] {
		return out, nil
	}
	seen[names] = true
	out = append(out, dir)
	read := 0
	for _, name := range listing.Names {
		if !strings.HasSuffix(name, ".pth") || strings.HasPrefix(name, ".") {
			continue
		}
		if read++; read > maxPathFiles {
			break
		}
		b, err := files.Read(join(dir, name), maxPathBytes)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", clean(name), err)
		}
		if out, err = addFolders(files, out, dir, workDir, b); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addFolders adds the folders that a .pth file names: see site.addpackage of CPython.
func addFolders(files Files, out []string, dir, workDir string, pth []byte) ([]string, error) {
	for line := range bytes.Lines(bytes.TrimPrefix(pth, []byte("\ufeff"))) {
		if len(out) >= maxFolders {
			break
		}
		p, ok := folderOf(strings.TrimRight(string(line), " \t\r\n\v\f"), dir, workDir)
		if !ok || slices.Contains(out, p) {
			continue
		}
		e, err := files.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", clean(p), err)
		}
		if e.Type == Directory {
			out = append(out, p)
		}
	}
	return out, nil
}

// folderOf returns the folder in the work directory that a line names.
func folderOf(line, dir, workDir string) (string, bool) {
	switch {
	case line == "", line[0] == '#', strings.HasPrefix(line, "import "), strings.HasPrefix(line, "import\t"), strings.ContainsRune(line, 0):
		return "", false
	case line[0] == '/':
		line = path.Clean(line)
		if workDir == "" || !within(line, workDir) {
			return "", false
		}
		line = path.Clean(strings.TrimPrefix(line[len(workDir):], "/"))
	default:
		line = path.Join(dir, line)
	}
	return line, len(line) <= maxPath && local(line)
}

// local reports whether a clean, relative path stays where it starts from.
func local(p string) bool {
	return p != ".." && !strings.HasPrefix(p, "../") && !strings.HasPrefix(p, "/")
}
