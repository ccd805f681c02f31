package imports

import "strings"

var (
	moduleTable = sorted(modules())
	moduleRows  = index(moduleTable)
)

// modules are the rows of modules. A row stands for the modules below it as well.
func modules() (rows []Row) {
	absent := func(reason, names string) { rows = group(rows, names, Row{Kind: Absent, Reason: reason}) }
	useless := func(reason, names string) { rows = group(rows, names, Row{Kind: Useless, Reason: reason}) }
	foreign := func(reason, names string) { rows = group(rows, names, Row{Kind: Foreign, Reason: reason}) }

	absent(noMachineCode, "_ctypes ctypes multiprocessing.sharedctypes")
	absent("this tier has no OpenSSL", "_hashlib _ssl ssl")
	absent(noMemoryMaps, "_posixshmem mmap multiprocessing.heap multiprocessing.shared_memory")
	absent(noProcesses, `_multiprocessing _posixsubprocess multiprocessing.forkserver multiprocessing.popen_fork multiprocessing.popen_forkserver
		multiprocessing.popen_spawn_posix multiprocessing.resource_tracker multiprocessing.synchronize`)
	absent("this tier has one interpreter in a run", "_interpchannels _interpqueues _interpreters")
	absent(noTerminal, `_curses _curses_panel curses pty readline termios tty _pyrepl._minimal_curses _pyrepl.curses _pyrepl.fancy_termios
		_pyrepl.readline _pyrepl.simple_interact _pyrepl.unix_console _pyrepl.unix_eventqueue`)
	absent("this tier has no screen", "_tkinter idlelib tkinter turtle turtledemo")
	absent(noLocks, "fcntl")
	absent(noAccounts, "grp pwd")
	absent("this tier has no resource limits of its own", "resource")
	absent("this tier has no system log", "syslog")
	absent("this tier is built without it", "_uuid pydoc_data")
	absent("this tier has no ndbm and no gdbm", "_dbm _gdbm dbm.gnu dbm.ndbm")
	absent("this tier installs no packages", "ensurepip")

	useless(noProcesses, "concurrent.futures.process multiprocessing subprocess")
	useless(noSockets, `_socket ftplib http.client http.server imaplib poplib smtplib socket socketserver urllib.request wsgiref.simple_server
		xmlrpc.client xmlrpc.server`)
	useless("this tier starts no browser", "antigravity webbrowser")
	useless("this tier installs no packages", "venv")

	foreign("it is of Windows", `_overlapped _winapi _wmi asyncio.windows_events asyncio.windows_utils encodings.mbcs encodings.oem msvcrt
		multiprocessing.popen_spawn_win32 nt winreg winsound _pyrepl.windows_console`)
	foreign("it is of macOS, iOS or Android", "_android_support _apple_support _ios_support _scproxy")
	foreign("it is of Debian's tools", "_distutils_system_mod")
	return rows
}

// uselessRow returns the row of a module that is of no use, or is below one.
func uselessRow(name string) *Row {
	for {
		if row := moduleRows[name]; row != nil && row.Kind == Useless {
			return row
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return nil
		}
		name = name[:dot]
	}
}
