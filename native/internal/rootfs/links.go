package rootfs

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// link copies a symbolic link. An absolute one is made relative, so that it leads nowhere else while the root
// is being built.
func (b *builder) link(target string) {
	to, err := b.host.ReadLink(strings.TrimPrefix(target, "/"))
	if err != nil {
		b.fail(fmt.Errorf("read link %s: %w", target, err))
		return
	}
	if path.IsAbs(to) {
		up := strings.Repeat("../", strings.Count(path.Dir(target)[1:], "/")+1)
		if path.Dir(target) == "/" {
			up = ""
		}
		to = up + strings.TrimPrefix(to, "/")
	}
	b.dir(path.Dir(target), 0o755)
	b.made[target] = true
	b.links[target] = to
	b.op(spec.Op{Kind: spec.OpSymlink, Target: target, Source: to})
}

// maxLinks is how many links one path may lead through: path_resolution(7).
const maxLinks = 40

// resolve gives the path that target has in the root without links: those of the plan, and those in what is
// bound from the host. To make or to mount something on a link itself does not work.
func (b *builder) resolve(target string) (string, error) {
	done, left := "/", strings.TrimPrefix(target, "/")
	for links := 0; left != ""; {
		var name string
		name, left, _ = strings.Cut(left, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, name)
		to, ok := b.leadsTo(next)
		if !ok {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("resolve %s: more than %d links", target, maxLinks)
		}
		if path.IsAbs(to) {
			done = "/"
		}
		left = to + "/" + left
	}
	return done, nil
}

// leadsTo gives the text of the link at target, if one is there.
func (b *builder) leadsTo(target string) (string, bool) {
	if to, ok := b.links[target]; ok {
		return to, true
	}
	if !b.inBound(target) {
		return "", false
	}
	name := strings.TrimPrefix(target, "/")
	info, err := b.host.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", false
	}
	to, err := b.host.ReadLink(name)
	return to, err == nil
}
