package guestfs

import (
	"strings"
	"testing"
)

// semantics are sequences of calls and their outcomes, the same for the work directory, /tmp and the host's kernel.
var semantics = []struct {
	name string
	rows []string
}{
	{"create, read, overwrite", []string{
		"put f hello", "cat f = hello", "put f bye", "cat f = bye", "stat f = file 644 size=3 nlink=1",
	}},
	{"missing", []string{
		"cat nope = ENOENT", "stat nope = ENOENT", "lstat nope = ENOENT", "unlink nope = ENOENT", "rmdir nope = ENOENT",
		"readlink nope = ENOENT", "chmod nope 600 = ENOENT", "utimens nope 1 1 = ENOENT", "rename nope x = ENOENT",
		"link nope x = ENOENT", "put nope/f x = ENOENT", "mkdir nope/d = ENOENT", "symlink x nope/l = ENOENT",
	}},
	{"a file is no directory", []string{
		"put f x", "cat f/g = ENOTDIR", "stat f/g = ENOTDIR", "lstat f/g = ENOTDIR", "put f/g x = ENOTDIR", "mkdir f/g = ENOTDIR",
		"unlink f/g = ENOTDIR", "rmdir f/g = ENOTDIR", "symlink x f/g = ENOTDIR", "rename f/g h = ENOTDIR",
		"rename f f/g = ENOTDIR", "link f f/g = ENOTDIR", "readlink f/g = ENOTDIR", "stat f/.. = ENOTDIR", "stat f/. = ENOTDIR",
		"ls f = ENOTDIR", "rmdir f = ENOTDIR", "stat f/../f = ENOTDIR",
	}},
	{"directories", []string{
		"mkdir d", "mkdir d = EEXIST", "stat d = dir 755 nlink=2", "mkdir d/e 700", "stat d = dir 755 nlink=3",
		"stat d/e = dir 700 nlink=2", "ls d = e", "rmdir d = ENOTEMPTY", "unlink d = EISDIR", "unlink d/e = EISDIR", "rmdir d/e",
		"stat d = dir 755 nlink=2", "rmdir d", "stat d = ENOENT",
	}},
	{"trailing slashes", []string{
		"mkdir d/", "put f x", "stat d/ = dir 755 nlink=2", "stat f/ = ENOTDIR", "lstat f/ = ENOTDIR", "cat f/ = ENOTDIR",
		"put f/ x = EISDIR", "put n/ x = EISDIR", "open h n/ w,creat,excl = EISDIR", "unlink f/ = ENOTDIR",
		"unlink d/ = EISDIR", "unlink n/ = ENOENT", "rename f/ g = ENOTDIR", "rename f g/ = ENOTDIR", "rename d/ e/", "ls e/// = \"\"",
		"symlink e s", "stat s/ = dir 755 nlink=2", "lstat s/ = dir 755 nlink=2", "readlink s/ = EINVAL", "readlink f/ = ENOTDIR", "unlink s/ = ENOTDIR",
		"rmdir s/ = ENOTDIR", "rename s/ t = ENOTDIR", "symlink x n/ = ENOENT", "symlink x e/ = EEXIST", "link f n/ = ENOENT",
		"link f/ n = ENOTDIR", "mkdir s/ = EEXIST", "symlink none dangling", "mkdir dangling/ = EEXIST", "rmdir e/",
		"chmod f/ 600 = ENOTDIR", "utimens f/ 1 1 = ENOTDIR",
	}},
	{"dots", []string{
		"mkdir d", "put d/f x", "cat d/./f = x", "cat d/../d/f = x", "cat d//f = x", "cat ./d/f = x", "stat d/f/.. = ENOTDIR", "stat d/f/. = ENOTDIR",
		"mkdir d/. = EEXIST", "mkdir d/.. = EEXIST", "rmdir d/. = EINVAL", "rmdir d/.. = ENOTEMPTY", "unlink d/. = EISDIR",
		"unlink d/.. = EISDIR", "rename d/. e = EBUSY", "rename d/.. e = EBUSY", "rename d e/. = ENOENT", "rename d/f d/.. = EBUSY",
		"symlink x d/. = EEXIST", "link d/f d/.. = EEXIST", "put d/. x = EISDIR", "put d/.. x = EISDIR", "put nope/. x = ENOENT",
		"mkdir nope/. = ENOENT", "rmdir nope/.. = ENOENT", "stat nope/.. = ENOENT", "cat d/nope/../f = ENOENT", "put ...x 1", "put ..x 1", "cat ..x = 1",
		"ls d/. = f", "ls d/.. = ...x ..x d",
	}},
	{"links", []string{
		"put f x", "symlink f s", "lstat s = link size=1 nlink=1", "stat s = file 644 size=1 nlink=1", "cat s = x", "readlink s = f",
		"put s yy", "cat f = yy", "readlink f = EINVAL", "symlink f s = EEXIST", "unlink s", "cat f = yy", "stat s = ENOENT",
		"mkdir d", "readlink d = EINVAL", "symlink ../f d/up", "cat d/up = yy", "symlink d dd", "cat dd/up = yy", "ls dd = up",
		"put dd/new n", "cat d/new = n", "unlink dd/new", "rmdir dd = ENOTDIR", "ls d = up", "mkdir dd = EEXIST",
	}},
	{"absolute links", []string{
		"mkdir d", "put d/f x", "symlink @/d/f a", "cat a = x", "put a yy", "cat d/f = yy", "symlink @/d dir", "cat dir/f = yy",
		"put dir/g z", "ls d = f g", "rename dir/g dir/h", "link dir/h k", "unlink dir/h", "ls dir = f", "mkdir dir/sub", "rmdir dir/sub",
		"symlink f dir/s", "readlink dir/s = f", "cat dir/s = yy", "rename k dir/k", "cat d/k = z", "readlink a = @/d/f",
		"symlink @/d/../d/f b", "cat b = yy", "symlink @/a c", "cat c = yy", "lstat dir/s = link size=1 nlink=1", "chmod a 600",
		"stat d/f = file 600 size=2 nlink=1", "utimens a 5 6", "times d/f = 5 6", "lutimens a 7 8", "times d/f = 5 6", "lutimens dir/s 1 2",
		"ltimes d/s = 1 2", "unlink a", "cat d/f = yy",
	}},
	{"links up and out of a directory", []string{
		"mkdir d", "mkdir d/e", "put top 1", "symlink ../../top d/e/up", "cat d/e/up = 1", "cat d/e/../e/up = 1", "symlink .. d/e/p",
		"cat d/e/p/e/up = 1", "cat d/e/p/../top = 1", "ls d/e/p = e", "symlink d/e short", "cat short/../../top = 1", "cat short/up = 1",
		"rmdir short/p = ENOTDIR", "unlink short/p", "ls d/e = up", "symlink . self", "cat self/self/self/top = 1",
	}},
	{"dangling links", []string{
		"symlink none s", "cat s = ENOENT", "stat s = ENOENT", "lstat s = link size=4 nlink=1", "open h s rw,creat,excl = EEXIST",
		"put s made", "cat none = made", "symlink nodir/x t", "put t x = ENOENT", "mkdir s = EEXIST", "symlink @/abs u", "put u abs", "cat abs = abs",
		"symlink slash/ v", "put v x = EISDIR", "stat v = ENOENT", "symlink abs/ w", "cat w = ENOTDIR",
	}},
	{"link loops", []string{
		"symlink a a", "cat a = ELOOP", "stat a = ELOOP", "put a x = ELOOP", "lstat a = link size=1 nlink=1", "symlink c b", "symlink b c", "cat b = ELOOP",
		"cat b/x = ELOOP", "mkdir b/x = ELOOP", "rename b/x y = ELOOP", "symlink @/e e", "cat e = ELOOP", "unlink a", "unlink b", "chmod c 600 = ENOENT",
	}},
	{"open flags", []string{
		"put f abc", "mkdir d", "symlink f s", "symlink d ds", "open h f rw,creat,excl = EEXIST", "open h n r = ENOENT", "open h d rw = EISDIR", "open h d w = EISDIR",
		"open h d r,creat = EISDIR", "open h d r,trunc = EISDIR", "open h f r,dir = ENOTDIR", "open h d r,dir", "open h s r,nofollow = ELOOP",
		"open h s w,nofollow,creat = ELOOP", "open h ds r,dir = ok", "open h ds r,dir,nofollow = ENOTDIR", "open h s r,dir = ENOTDIR", "open h f r,nofollow", "open h x r,creat,dir = EINVAL",
		"open h n w,creat,excl 600", "stat n = file 600 size=0 nlink=1", "open h m rw,creat,nofollow 444", "stat m = file 444 size=0 nlink=1", "write h q = 1",
		"open h f r,excl", "open h f r,creat 600", "stat f = file 644 size=3 nlink=1", "open h s rw,creat,trunc", "stat f = file 644 size=0 nlink=1",
		"put f xy", "open h f r,trunc", "stat f = file 644 size=0 nlink=1", "write h z = EBADF", "open h special rw,creat 7777", "stat special = file 777 size=0 nlink=1",
	}},
	{"reads and writes", []string{
		"open h f rw,creat", "write h hello = 5", "seek h 0 cur = 5", "seek h 1 set = 1", "read h 3 = ell", "write h X = 1", "seek h -2 end = 3", "read h 9 = lX", "read h 9 = \"\"",
		"pread h 2 1 = el", "pwrite h ZZ 0 = 2", "pread h 9 0 = ZZllX", "seek h 0 cur = 5", "pwrite h t 8 = 1", "pread h 20 0 = ZZllX<3>t", "pread h 5 100 = \"\"",
		"ftruncate h 3", "pread h 9 0 = ZZl", "ftruncate h 6", "pread h 9 0 = ZZl<3>", "fstat h = file 644 size=6 nlink=1", "seek h -1 set = EINVAL", "seek h 100 set = 100",
		"write h end = 3", "fstat h = file 644 size=103 nlink=1", "cat f = ZZl<97>end", "pread h 3 -1 = EINVAL", "pwrite h x -1 = EINVAL", "ftruncate h -1 = EINVAL", "close h", "read h 1 = EBADF",
	}},
	{"access modes", []string{
		"put f abc", "open r f r", "open w f w", "write r x = EBADF", "setappend r on", "write r x = EBADF", "seek r 0 cur = 0", "setappend r off", "pwrite r x 0 = EBADF", "ftruncate r 0 = EINVAL", "read w 1 = EBADF", "pread w 1 0 = EBADF", "write w x = 1", "read r 9 = xbc",
	}},
	{"append", []string{
		"put f ab", "open a f w,append", "open b f rw", "write b X = 1", "write a cd = 2", "write a e = 1", "cat f = Xbcde", "seek a 0 set = 0", "write a f = 1", "cat f = Xbcdef", "seek a 0 cur = 6",
		"setappend b on", "write b g = 1", "cat f = Xbcdefg", "setappend b off", "seek b 0 set = 0", "write b Y = 1", "cat f = Ybcdefg", "pwrite a h 0 = 1", "cat f = Ybcdefgh",
	}},
	{"chunk edges", []string{
		"open h f rw,creat", "pwrite h abcd 4094 = 4", "pread h 10 4090 = <4>abcd", "ftruncate h 4097", "ftruncate h 8200", "pread h 4 4094 = abc<1>", "ftruncate h 4096", "ftruncate h 5000",
		"pread h 8 4094 = ab<6>", "pwrite h z 8191 = 1", "pread h 3 8190 = <1>z", "pwrite h y 12288 = 1", "ftruncate h 8192", "pread h 5 8190 = <1>z", "fstat h = file 644 size=8192 nlink=1",
	}},
	{"unlinked and open", []string{
		"open h f rw,creat", "write h data = 4", "unlink f", "fstat h = file 644 size=4 nlink=0", "pread h 9 0 = data", "write h more = 4", "pread h 9 0 = datamore", "put f new", "cat f = new", "pread h 4 0 = data", "close h",
		"open h f rw", "put g over", "rename g f", "pread h 9 0 = new", "fstat h = file 644 size=3 nlink=0", "cat f = over",
	}},
	{"hard links", []string{
		"put f x", "link f g", "stat f = file 644 size=1 nlink=2", "put g yy", "cat f = yy", "unlink f", "stat g = file 644 size=2 nlink=1", "mkdir d", "link d e = EPERM", "link g g = EEXIST", "link g d = EEXIST", "link g d/h",
		"rename g d/h", "lstat g = file 644 size=2 nlink=2", "unlink g", "symlink nowhere s", "link s t", "readlink t = nowhere", "lstat t = link size=7 nlink=2", "link d d/x = EPERM",
	}},
	{"rename files", []string{
		"put a A", "put b B", "rename a b", "cat b = A", "stat a = ENOENT", "mkdir d", "rename b d = EISDIR", "rename b d/b", "cat d/b = A", "rename d/b d/b", "rename d/b c", "ls d = \"\"", "symlink c s", "rename s t", "readlink t = c",
		"put u U", "rename u t", "lstat t = file 644 size=1 nlink=1", "cat c = A", "rename d c = ENOTDIR", "rename c nope/x = ENOENT",
	}},
	{"rename directories", []string{
		"mkdir a", "put a/f x", "mkdir b", "rename a b", "cat b/f = x", "mkdir a", "rename a b = ENOTEMPTY", "rename b b", "rename b b/x = EINVAL", "mkdir b/c", "rename b b/c = EINVAL", "rename b b/c/d = EINVAL", "rename b/c b = ENOTEMPTY",
		"rename b/c a", "stat b = dir 755 nlink=2", "stat a = dir 755 nlink=2", "rename b a/in", "cat a/in/f = x", "stat a = dir 755 nlink=3", "rename a/in out", "stat a = dir 755 nlink=2", "cat out/f = x", "rename out/ renamed/", "cat renamed/f = x",
		"symlink renamed s", "rename s/f g", "cat g = x", "mkdir p", "mkdir p/q", "rename p/q/ p = ENOTEMPTY", "rename a g = ENOTDIR",
	}},
	{"modes", []string{
		"open h f rw,creat 640", "stat f = file 640 size=0 nlink=1", "chmod f 4755", "mkdir d 1777", "chmod d 2700", "chmod d 751", "stat d = dir 751 nlink=2", "symlink f s", "chmod s 600", "stat f = file 600 size=0 nlink=1",
	}},
	{"times", []string{
		"put f x", "utimens f 1000000001 2000000002", "times f = 1000000001 2000000002", "utimens f omit 3", "times f = 1000000001 3", "utimens f 4 omit", "times f = 4 3", "open h f r", "futimens h 7 8", "times f = 7 8", "futimens h omit 9", "times f = 7 9",
		"symlink f s", "lutimens s 11 12", "ltimes s = 11 12", "times s = 7 9", "utimens s 13 14", "times f = 13 14", "mkdir d", "utimens d 5 6", "times d = 5 6", "lutimens f 1 2", "times f = 1 2", "open h d r,dir", "futimens h 3 4", "times d = 3 4",
		"utimens f -5 -1500000000", "times f = -5 -1500000000",
	}},
	{"names are bytes", []string{
		"put \xff\xfe x", "cat \xff\xfe = x", "ls . = \xff\xfe", "unlink \xff\xfe", "put e\u0301 1", "put \u00e9 2", "cat e\u0301 = 1", "cat \u00e9 = 2", "put a\\b c", "ls . = a\\b e\u0301 \u00e9", "put con 1", "put x:y 2", "cat x:y = 2",
	}},
	{"long names", []string{
		"put " + strings.Repeat("n", 255) + " x", "cat " + strings.Repeat("n", 255) + " = x", "put " + strings.Repeat("n", 256) + " x = ENAMETOOLONG", "stat " + strings.Repeat("n", 256) + " = ENAMETOOLONG",
		"stat " + strings.Repeat("./", 2100) + " = ENAMETOOLONG", "symlink " + strings.Repeat("t/", 2047) + " s = ok", "symlink " + strings.Repeat("t", 4096) + " s2 = ENAMETOOLONG",
	}},
}

// targets are where the semantics must hold.
func targets(t *testing.T) map[string]target {
	f := newFixture(t)
	all := map[string]target{"work": f.guest, "memory": f.in("/tmp/m")}
	expect(t, f.in("/tmp"), "mkdir m")
	addKernel(t, all)
	return all
}

func TestFS_Semantics(t *testing.T) {
	for _, tc := range semantics {
		t.Run(tc.name, func(t *testing.T) {
			for where, to := range targets(t) {
				t.Run(where, func(t *testing.T) { expect(t, to, tc.rows...) })
			}
		})
	}
}
