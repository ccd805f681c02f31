package imports

import (
	"fmt"
	"strings"
)

// useRowsOfTests are about uses: rule 5.
var useRowsOfTests = []row{
	{name: "thread", script: "import 1 - 0 0 0 threading\nuse 5 c threading.Thread\n", auto: "line 5: threading.Thread: this tier has no threads"},
	{name: "thread in a function", script: "use 5 mc threading.Thread\n", auto: "line 5: threading.Thread: this tier has no threads"},
	{name: "thread mentioned", script: "use 5 - threading.Thread\nuse 6 m threading.Thread\n"},
	{name: "locks", script: "use 5 c threading.Lock\nuse 6 c threading.Event\nuse 7 mc threading.local\nuse 8 c threading.current_thread\nuse 9 c threading.RLock\n"},
	{name: "timer", script: "use 1 c threading.Timer\n", auto: "line 1: threading.Timer: this tier has no threads"},
	{name: "start_new_thread", script: "use 1 c _thread.start_new_thread\n", auto: "line 1: _thread.start_new_thread: this tier has no threads"},
	{name: "thread pool", script: "from 1 - 0 0 0 concurrent.futures ThreadPoolExecutor\nuse 4 c concurrent.futures.ThreadPoolExecutor\n", auto: "line 4: concurrent.futures.ThreadPoolExecutor: this tier has no threads"},
	{name: "thread pool not used", script: "from 1 - 0 0 0 concurrent.futures ThreadPoolExecutor\nfrom 2 - 0 0 0 threading Thread\n"},
	{name: "process pool", script: "use 4 c concurrent.futures.ProcessPoolExecutor\n", auto: "line 4: concurrent.futures.ProcessPoolExecutor: this tier has no processes"},
	{name: "to_thread", script: "use 4 mc asyncio.to_thread\n", auto: "line 4: asyncio.to_thread: this tier has no threads"},
	{name: "asyncio subprocess", script: "use 4 mc asyncio.subprocess.create_subprocess_exec\n", auto: "line 4: asyncio.subprocess.create_subprocess_exec: this tier has no processes"},
	{name: "asyncio server", script: "use 4 mc asyncio.start_server\n", auto: "line 4: asyncio.start_server: this tier has no sockets"},
	{name: "asyncio", script: "use 4 c asyncio.run\nuse 5 mc asyncio.gather\nuse 6 mc asyncio.Queue\n"},
	{name: "fork", script: "use 4 c os.fork\n", auto: "line 4: os.fork: this tier has no processes"},
	{name: "fork of posix", script: "use 4 c posix.fork\n", auto: "line 4: posix.fork: this tier has no processes"},
	{name: "fork mentioned", script: "use 4 - os.fork\n"},
	{name: "from os import fork", script: "from 4 - 0 0 0 os fork\n", auto: "line 4: os.fork: this tier has no processes"},
	{name: "from os import popen", script: "from 4 - 0 0 0 os popen\n"},
	{name: "popen", script: "use 4 c os.popen\n", auto: "line 4: os.popen: this tier has no processes"},
	{name: "system and exec", script: "use 9 c os.execvp\nuse 4 c os.system\n", auto: "line 4: os.system: this tier has no processes"},
	{name: "alarm", script: "use 4 c signal.alarm\n", auto: "line 4: signal.alarm: no signals come from outside the script here"},
	{name: "signal", script: "use 4 c signal.signal\n"},
	{name: "getuid", script: "use 4 c os.getuid\n", auto: "line 4: os.getuid: this tier has no user accounts"},
	{name: "umask", script: "use 4 mc os.umask\n", auto: "line 4: os.umask: files have no permissions here"},
	{name: "disk usage", script: "use 4 c shutil.disk_usage\n", auto: "line 4: shutil.disk_usage: this tier does not know the size of its disks"},
	{name: "files", script: "use 4 c os.listdir\nuse 5 c os.path.join\nuse 6 c shutil.copytree\nuse 7 c os.symlink\nuse 8 c os.cpu_count\n"},
	{name: "beyond a path", script: "use 4 c threading.Thread.run.x\nuse 5 c thread\nuse 6 c threading\n"},
	{name: "own module's use", script: "import 1 - 0 0 0 work\n", files: map[string]string{"work.py": "use 9 c threading.Thread\n"}, auto: "line 1: import work: work > threading.Thread: this tier has no threads"},
	{name: "own module's first problem", script: "import 1 - 0 0 0 work\n", files: map[string]string{"work.py": "import 1 - 0 0 0 socket\nimport 2 - 0 0 0 subprocess\n"}, auto: "line 1: import work: work > socket: this tier has no sockets"},
	{name: "own module's foreign function", script: "import 1 - 0 0 0 work\n", files: map[string]string{"work.py": "import 1 m 0 0 0 winreg\n"}},
	{name: "own module's mention", script: "import 1 - 0 0 0 work\n", files: map[string]string{"work.py": "use 9 - threading.Thread\n"}},
	{name: "use before import by line", script: "use 3 c os.fork\nimport 9 - 0 0 0 ctypes\n", auto: "line 3: os.fork: this tier has no processes", refused: "line 9: import ctypes: this tier runs no machine code"},
	{name: "own name like a row", script: "import 1 - 0 0 0 mine\nuse 2 c mine.fork\n", files: map[string]string{"mine.py": ""}},
}

// boundRows are about what a decision may take.
var boundRows = []row{
	{
		name: "many files", script: "import 1 - 0 0 0 m0\n", files: chain(MaxFiles+1, "import 1 - 0 0 0 m%d\n", ""),
		auto: "line 1: import m0: not decided: it imports more than 2000 files",
	},
	{name: "as many files as may be", script: "import 1 - 0 0 0 m0\n", files: chain(MaxFiles, "import 1 - 0 0 0 m%d\n", "import 1 - 0 0 0 json\n")},
	{
		name: "deep chain", script: "import 1 - 0 0 0 m0\n", files: chain(1500, "import 1 - 0 0 0 m%d\n", "import 1 - 0 0 0 ctypes\n"),
		auto: "line 1: import m0: m0 > m1 > ... > m1499 > ctypes: this tier runs no machine code", sure: true,
	},
	{
		name: "obstacle before the bound", script: "import 1 - 0 0 0 ctypes\nimport 2 - 0 0 0 m0\n", files: chain(MaxFiles+1, "import 1 - 0 0 0 m%d\n", ""),
		auto: "line 1: import ctypes: this tier runs no machine code", sure: true,
	},
	{
		name: "much source", script: "import 1 - 0 0 0 a\nimport 2 - 0 0 0 b\n", files: map[string]string{"a.py": strings.Repeat("#", 30), "b.py": "###"},
		auto: "line 2: import b: not decided: it imports more than 32 MiB of source",
	},
	{name: "as much source as may be", script: "import 1 - 0 0 0 a\nimport 2 - 0 0 0 b\n", files: map[string]string{"a.py": strings.Repeat("#", 30), "b.py": "##"}},
	{
		name: "many imports", script: "import 1 - 0 0 0 a\n", files: map[string]string{"a.py": strings.Repeat("import 1 - 0 0 0 json\n", 40000)},
	},
	{
		name: "too many imports", script: "import 1 - 0 0 0 a\nimport 2 - 0 0 0 b\nimport 3 - 0 0 0 c\n",
		files: map[string]string{"a.py": strings.Repeat("import 1 - 0 0 0 os.path\n", 40000), "b.py": strings.Repeat("import 1 - 0 0 0 os.path\n", 30000), "c.py": ""},
		auto:  "line 2: import b: not decided: it has more than 131072 imports",
	},
	{name: "long name", script: "import 1 - 0 0 0 " + strings.Repeat("six.", 2000) + "x\n", files: map[string]string{"six.py": ""}, auto: "line 1: import " + clean(strings.Repeat("six.", 2000)+"x") + lostReason},
}

// chain makes modules m0, m1, ..., each of which imports the next one.
func chain(n int, format, last string) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("m%d.py", i)] = fmt.Sprintf(format, i+1)
	}
	files[fmt.Sprintf("m%d.py", n-1)] = last
	return files
}
