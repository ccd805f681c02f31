package rootfs

import (
	"io/fs"
	"maps"
	"path"
	"strings"
	"testing/fstest"
)

// fakeHost is a host's file system. It follows absolute links, as a real one does and fstest.MapFS does not.
type fakeHost struct {
	raw   fstest.MapFS
	plain fstest.MapFS // with relative links
}

// newHost makes a host of files and directories, whose names end in "/", and of links, by name.
func newHost(files []string, links map[string]string) *fakeHost {
	h := &fakeHost{fstest.MapFS{}, fstest.MapFS{}}
	for _, name := range files {
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, "/") {
			mode = 0o755 | fs.ModeDir
		}
		h.raw[strings.Trim(name, "/")] = &fstest.MapFile{Mode: mode}
	}
	for name, to := range links {
		h.raw[strings.Trim(name, "/")] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
	}
	maps.Copy(h.plain, h.raw)
	for name, to := range links {
		name = strings.Trim(name, "/")
		if path.IsAbs(to) {
			to = strings.Repeat("../", strings.Count(name, "/")) + strings.TrimPrefix(to, "/")
		}
		h.plain[name] = &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
	}
	return h
}

func (h *fakeHost) Open(name string) (fs.File, error)      { return h.plain.Open(name) }
func (h *fakeHost) Stat(name string) (fs.FileInfo, error)  { return h.plain.Stat(name) }
func (h *fakeHost) Lstat(name string) (fs.FileInfo, error) { return h.plain.Lstat(name) }
func (h *fakeHost) Glob(pattern string) ([]string, error)  { return h.plain.Glob(pattern) }
func (h *fakeHost) ReadLink(name string) (string, error) {
	if f := h.raw[name]; f != nil && f.Mode&fs.ModeSymlink != 0 {
		return string(f.Data), nil
	}
	return h.plain.ReadLink(name)
}

// etcFiles are what the fake hosts have in /etc; some of it is nothing for a cell.
var etcFiles = []string{
	"/etc/alternatives/", "/etc/debian_version", "/etc/hosts", "/etc/hostname", "/etc/java-17-openjdk/", "/etc/ld.so.cache", "/etc/ld.so.conf",
	"/etc/ld.so.conf.d/", "/etc/passwd", "/etc/profile", "/etc/python3/", "/etc/python3.11/", "/etc/resolv.conf", "/etc/services", "/etc/shadow",
	"/etc/ssh/", "/etc/ssl/certs/", "/etc/ssl/openssl.cnf", "/etc/ssl/private/", "/etc/sudoers",
}

// merged is a host whose programs are all in /usr.
func merged() *fakeHost {
	return newHost(append([]string{
		"/usr/bin/env", "/usr/lib/", "/usr/lib64/", "/usr/sbin/", "/usr/lib/os-release", "/usr/local/bin/tool", "/usr/local/share/data/",
		"/usr/share/zoneinfo/Europe/Berlin", "/opt/a/b/", "/home/me/src/", "/home/me/notes", "/srv/x/", "/srv/xy/", "/srv/z/deep/", "/var/tmp/x/", "/run/user/",
	}, etcFiles...), map[string]string{
		"/bin": "usr/bin", "/lib": "usr/lib", "/lib64": "/usr/lib64", "/sbin": "usr/sbin",
		"/etc/localtime": "/usr/share/zoneinfo/Europe/Berlin", "/etc/os-release": "../usr/lib/os-release", "/etc/timezone": "missing",
		"/usr/local/linked": "/srv/x", "/usr/local/near": "share/data", "/usr/local/loop": "loop", "/usr/local/temporary": "/tmp/there",
		"/opt/link": "/srv/z",
	})
}

// unmerged is a host that has programs outside /usr, and little in /etc.
func unmerged() *fakeHost {
	return newHost([]string{
		"/usr/bin/env", "/bin/sh", "/sbin/init", "/lib/libc.so", "/lib/x86_64-linux-gnu/", "/etc/services", "/etc/ssl/", "/etc/localtime", "/opt/a/b/", "/var/tmp/x/",
	}, map[string]string{"/lib64": "lib/x86_64-linux-gnu"})
}
