package cgroup

import (
	"bytes"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// membership is a line of /proc/self/cgroup: the group that a process is in, in one hierarchy. Version 2 has hierarchy
// 0 and no controllers. See cgroups(7).
type membership struct {
	hierarchy   int
	controllers []string
	path        string // as seen from the root of the cgroup namespace; "/.." is above it
}

// removed says that the group was removed while the process was in it.
func (m membership) removed() bool { return strings.HasSuffix(m.path, " (deleted)") }

// parseMemberships reads /proc/self/cgroup and leaves out lines that it does not understand.
func parseMemberships(text string) []membership {
	var all []membership
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 || !strings.HasPrefix(fields[2], "/") {
			continue
		}
		id, err := strconv.Atoi(fields[0])
		if err != nil || id < 0 {
			continue
		}
		m := membership{hierarchy: id, path: fields[2]}
		if fields[1] != "" {
			m.controllers = strings.Split(fields[1], ",")
		}
		all = append(all, m)
	}
	return all
}

// mount is a mounted cgroup file system.
type mount struct {
	version int      // 1 or 2
	root    string   // the group that is seen at point, from the root of the cgroup namespace
	point   string   // where it is mounted
	options []string // of the file system: names of controllers in version 1
}

// has says whether m is the hierarchy of a controller of version 1.
func (m mount) has(controller string) bool {
	return m.version == 1 && slices.Contains(m.options, controller)
}

// dir returns the directory of a group under the mount, and false if the mount does not show that group.
func (m mount) dir(group string) (string, bool) {
	// The kernel writes "/.." for what is above the cgroup namespace. No group has that name.
	if slices.Contains(strings.Split(m.root+"/"+group, "/"), "..") {
		return "", false
	}
	root, group := path.Clean(m.root), path.Clean(group)
	if root == "/" {
		return path.Join(m.point, group), true
	}
	rest, ok := strings.CutPrefix(group, root)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return path.Join(m.point, rest), true
}

// parseMounts reads /proc/self/mountinfo and returns the cgroup file systems, in order. See proc_pid_mountinfo(5).
func parseMounts(text string) []mount {
	var all []mount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		m := mount{root: unescape(left[3]), point: unescape(left[4]), options: strings.Split(right[2], ",")}
		switch right[0] {
		case "cgroup":
			m.version = 1
		case "cgroup2":
			m.version = 2
		default:
			continue
		}
		if strings.HasPrefix(m.root, "/") && strings.HasPrefix(m.point, "/") {
			all = append(all, m)
		}
	}
	return all
}

// unescape undoes the octal escapes of mountinfo: \040 is a space.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// parsePids reads cgroup.procs. A zero stands for a process that is in no pid namespace of ours. It returns false when
// a line is not a number.
func parsePids(text string) ([]int, bool) {
	var pids []int
	for field := range strings.FieldsSeq(text) {
		pid, err := strconv.ParseInt(field, 10, 32)
		if err != nil || pid < 0 {
			return nil, false
		}
		pids = append(pids, int(pid))
	}
	return pids, true
}

// value returns the number after a key of a flat keyed file such as memory.events: lines of "key number". It does not
// allocate.
func value(text []byte, key string) (int64, bool) {
	for len(text) > 0 {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		if len(line) > len(key) && string(line[:len(key)]) == key && line[len(key)] == ' ' {
			return number(line[len(key)+1:])
		}
	}
	return 0, false
}

// number returns a decimal number without sign, with or without a line end behind it. It does not allocate.
func number(text []byte) (int64, bool) {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	var n int64
	for _, c := range text {
		digit := int64(c) - '0'
		if digit < 0 || digit > 9 || n > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, len(text) > 0
}
