package differential

// A difference is text that the wasm tier's outcome has in the place of the native tier's: see outcome. Every row must
// apply: one that is no longer true fails its script.
type difference struct {
	native, wasm string
	why          string
	// since is the first version of the host's Python that has native: 12 for 3.12. Zero: all.
	since int
}

// The reasons.
const (
	wasiErrno  = "WASI has its own errno numbers (preview 1, type errno); they are compiled into the libc and CPython"
	wasiModes  = "WASI preview 1 shows no permissions, has no call to change them, and opens files without a mode"
	wasiCalls  = "WASI preview 1 has no such call, so that os, signal and time lack the function"
	wasiCwd    = "the working directory is kept by wasi-libc, as text"
	wasiEmpty  = "wasi-libc joins paths with its working directory, so that an empty one is that, and . is the whole path of a mount"
	wasiTimes  = "WASI preview 1 has no time before 1970"
	wasiDup    = "WASI preview 1 has no way to make a second descriptor for a file"
	wasiSignal = "without a handler, wasi-libc ends the program by a trap, which counts as a crash"
	musl       = "the C library is musl"
	width      = "the interpreter is built for 32 bits"
	noThreads  = "the wasm tier has no threads"
	noProcess  = "the wasm tier has no processes"
	noZone     = "the wasm tier's local time is UTC"
	noFileSize = "Limits.FileSize is not held by the wasm tier, which says so: it needs Options.BestEffort"
	noSystem   = "in the wasm tier there is nothing of the system: what natively is refused is not there"
	pythonPath = "the native tier puts the work directory on sys.path by PYTHONPATH, behind the script's folder"
	frozen     = "modules that are frozen into the interpreter have no __file__ there: it knows no folder of the library"
	system     = "it is another system"
)

var (
	enoent    = difference{native: "[Errno 2]", wasm: "[Errno 44]", why: wasiErrno}
	ebadf     = difference{native: "[Errno 9]", wasm: "[Errno 8]", why: wasiErrno}
	eexist    = difference{native: "[Errno 17]", wasm: "[Errno 20]", why: wasiErrno}
	enotdir   = difference{native: "[Errno 20]", wasm: "[Errno 54]", why: wasiErrno}
	eisdir    = difference{native: "[Errno 21]", wasm: "[Errno 31]", why: wasiErrno}
	enotempty = difference{native: "[Errno 39]", wasm: "[Errno 55]", why: wasiErrno}
)

// differences are, by script, all that may differ between the tiers. Keep it short: a row is a promise broken.
var differences = map[string][]difference{
	// The corpus.
	"argv_env": {
		{native: "'PYTHONPATH': '/tmp/sandbox-work', ", why: pythonPath},
		{native: "\nFalse True True True False\n", wasm: "\nTrue True True True False\n", why: pythonPath}, // whether sys.path begins with it
	},
	"err_carets":      {enoent},
	"err_suggestions": {enoent},
	"pathlib_files":   {enoent, eexist, enotdir, eisdir, enotempty},
	"shutil_glob":     {enoent, eexist},
	"tempfile_os":     {enoent, ebadf, eexist, enotdir, eisdir, {native: "'PYTHONPATH', ", why: pythonPath}},
	"err_stop_iteration": {
		enoent, eisdir,
		{native: "34, 'Numerical result out of range'", wasm: "68, 'Result not representable'", why: musl},
	},
	"err_deep_nesting": {{native: "PermissionError", wasm: "ConnectionAbortedError", why: wasiErrno}}, // made of the number 13
	"pickle_copy": {
		{native: "\"shelf-shm\" -rw-r--r-- 32768\n\"shelf-wal\" -rw-r--r-- 0\n", why: "SQLite has no shared memory for a write-ahead log there, and keeps none", since: 13},
	},
	"password_kdf":    {{native: "UnsupportedDigestmodError\n", wasm: "ValueError\n", why: "hashlib has no OpenSSL, whose class it is", since: 12}},
	"float_format":    {{native: " 3.0000000000000004 1.4142135623730951", wasm: " 3.0 1.4142135623730951", why: musl}},
	"time_arithmetic": {{native: "|GMT|", wasm: "|UTC|", why: musl}},

	// Scripts of this package.
	"absent_calls": {
		{
			native: "\n\n\nTrue True True\n", wasm: "chown dup2 fork fwalk getppid getuid kill mkfifo pipe posix_spawn sched_getaffinity statvfs sync system umask wait writev\n" +
				"alarm pause setitimer sigwait\nthread_time tzset\nFalse False False\n",
			why: wasiCalls,
		},
	},
	"child_process": {{native: "child\n\n\n== exit 0", wasm: "\n== exit 1 OSError", why: noProcess}},
	"closed_folder": {
		{native: "PermissionError EACCES\nPermissionError EACCES\nPermissionError EACCES\nPermissionError EACCES\n", wasm: "done\ndone\ndone\nFileNotFoundError ENOENT\n", why: wasiModes},
		{native: "\"closed/inside\" -rw-r--r-- 0 e3b0c44298fc\n", wasm: "\"closed/d\" drwxr-xr-x\n\"closed/new\" -rw-r--r-- 0 e3b0c44298fc\n", why: wasiModes},
	},
	"cwd_removed": {{native: "FileNotFoundError\nFileNotFoundError\n", wasm: "/tmp/sandbox-work/gone\nFileNotFoundError\n", why: wasiCwd}},
	"cwd_through_link": {
		{native: "/tmp/sandbox-work/a/b\n", wasm: "/tmp/sandbox-work/l\n", why: wasiCwd},
		{native: "/tmp/sandbox-work/a\n", wasm: "/tmp/sandbox-work/l/..\n", why: wasiCwd},
	},
	"descriptors_dup": {
		{native: "back into the file\n\n\n== exit 0", wasm: "\n== exit 1 OSError", why: wasiDup},
		{native: "\"captured\" -rw-r--r-- 14 26f03f043421\n", why: wasiDup},
	},
	"empty_path":    {{native: "ENOENT\nENOENT\nENOENT\nENOENT\nEINVAL\n", wasm: "EISDIR\nworked\nworked\nEEXIST\nEBUSY\n", why: wasiEmpty}},
	"error_numbers": {enoent, {native: "Too many open files", wasm: "No file descriptors available", why: musl}},
	"file_modes": {
		{native: "0o600 0o600 -rw-------\n0o755 0o755 -rwxr-xr-x\n0o444 0o444 -r--r--r--\n0o640 0o640 -rw-r-----\n0o700\n0o600\n0o600\nTrue False", wasm: "0o600 0o644 -rw-r--r--\n0o755 0o644 -rw-r--r--\n0o444 0o644 -rw-r--r--\n0o640 0o644 -rw-r--r--\n0o755\n0o644\n0o644\nTrue True", why: wasiModes},
		{native: "\"folder\" drwx------", wasm: "\"folder\" drwxr-xr-x", why: wasiModes},
		{native: "\"plain.txt\" -rw-r-----", wasm: "\"plain.txt\" -rw-r--r--", why: wasiModes},
		{native: "\"private\" -rw-------", wasm: "\"private\" -rw-r--r--", why: wasiModes},
	},
	"file_too_big": {
		{native: "OSError EFBIG\n100000\n", wasm: "no limit\n300000\n", why: noFileSize},
		{native: "-rw-r--r-- 100000 9192c25b734f", wasm: "-rw-r--r-- 300000 886715e4051e", why: noFileSize},
	},
	"file_umask": {
		{native: "0o22\n0o600\n\n== exit 0", wasm: "\n== exit 1 AttributeError", why: wasiCalls},
		{native: "\"secret.txt\" -rw------- 1 2d711642b726\n", why: wasiCalls},
	},
	"int_widths": {
		{native: "9223372036854775807 64 1 1152921504606846976\n8 8 8 (0,)\n1099511627776\n", wasm: "2147483647 32 1073741824 1073741824\n4 4 4 (0,)\nOverflowError\n", why: width},
	},
	"locale_names":    {{native: "Error\n", wasm: "any name is taken\n", why: musl}},
	"math_last_digit": {{native: "\n3.0000000000000004\n", wasm: "\n3.0\n", why: musl}},
	"module_files":    {{native: "os.py\n\n== exit 0", wasm: "\n== exit 1 AttributeError", why: frozen}},
	"platform_names": {
		{native: "linux Linux True True\nTrue True\n\n== exit 0", wasm: "wasi wasi True False\n\n== exit 1 AttributeError", why: system},
	},
	"script_folder":  {{native: "/run/sandbar\n", wasm: "/tmp/sandbox-work\n", why: pythonPath}},
	"signal_default": {{native: "== exit 143", wasm: "== exit 134", why: wasiSignal}},
	"system_errors":  {{native: "/etc/passwd OSError\n", wasm: "/etc/passwd FileNotFoundError\n", why: noSystem}},
	"thread":         {{native: "in a thread\n\n== exit 0", wasm: "\n== exit 1 RuntimeError", why: noThreads}},
	"unreadable_file": {
		{
			native: "r PermissionError EACCES\nw PermissionError EACCES\na PermissionError EACCES\nPermissionError\nx\n",
			wasm:   "r opened\nw opened\na opened\nopened\n\n", why: wasiModes,
		},
	},
	"utime_old":     {{native: "-14182940.0\n\n== exit 0", wasm: "\n== exit 1 OSError", why: wasiTimes}},
	"zone_variable": {{native: "(2024, 7, 3, 11, 46) ('CET', 'CEST')\n2024-07-03 11:46:40", wasm: "(2024, 7, 3, 9, 46) ('UTC', 'UTC')\n2024-07-03 09:46:40", why: noZone}},
}
