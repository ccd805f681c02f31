package nativetests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A testCase says where a case is tested: by tests of this package, and in words what else there is.
type testCase struct {
	number    string
	tests     string
	elsewhere string
}

// testCases are all cases that the native tier is concerned with: those of output, of processes, of files, of
// isolation and of embedding, and the few about the network that need nothing outside.
var testCases = []testCase{
	{"C001", "TestC001_Bytes", "enginetest: bytes are exact"},
	{"C004", "TestC004_ExitComesLast", "enginetest: complete at the end"},
	{"C005", "TestC005_InitKilled", "over a transport: the server's tests"},
	{"C006", "TestC006_Unbounded", "enginetest: a flood takes no memory"},
	{"C008", "TestC008_OneStream", "enginetest: only one of them is read"},
	{"C009", "TestC009_BackgroundHoldsStdout", ""},
	{"C011", "TestC011_NoNewline", "enginetest: last line without a newline"},
	{"C013", "TestC013_PythonAtTheDeadline", "enginetest: timeout"},
	{"C014", "TestC014_Order", ""},

	{"C016", "TestC016_C018_C020_C162_Deadline TestC016_C018_KillAndClose", "enginetest: timeout, kill"},
	{"C018", "TestC016_C018_C020_C162_Deadline TestC018_C031_DiesWithTheRun TestC018_ClosedWhileStarting", ""},
	{"C020", "TestC016_C018_C020_C162_Deadline TestC020_C093_NoTerminal", ""},
	{"C021", "TestC021_Signals TestC021_InheritedSignals", ""},
	{"C023", "TestC023_NoStdin", "enginetest: none is the end at once"},
	{"C024", "TestC024_ExitStatus TestC024_KillsAll", "enginetest: exit codes"},
	{"C026", "TestC026_C162_EmbedderKilled TestC026_EmbedderStopped", ""},
	{"C028", "TestC028_ForkBomb", ""},
	{"C029", "TestC029_OutOfMemory TestC046_C029_TmpIsMemory", "enginetest: memory"},
	{"C031", "TestC018_C031_DiesWithTheRun TestC031_Background", ""},

	{"C032", "TestC032_LinksOut", "enginetest: links of the script that lead out"},
	{"C033", "TestC033_PutThroughLinks", "enginetest: links of the script that lead out"},
	{"C035", "TestC035_Spellings", "engine: path tests"},
	{"C036", "TestC036_Fifo", "engine: file tests"},
	{"C038", "TestC038_ProcSelf", ""},
	{"C039", "TestC039_Sparse", "engine: file tests"},
	{"C041", "TestC041_Directories", "engine: file tests"},
	{"C042", "TestC042_HardLinks", ""},
	{"C044", "TestC044_Ownership TestC044_PutWhileRunning", "enginetest: the script may change what was put"},
	{"C045", "TestC045_DiskFull", "enginetest: disk limit, limit of files"},
	{"C046", "TestC046_FullTmp TestC046_C029_TmpIsMemory", "enginetest: /tmp is bounded"},
	{"C049", "TestC049_Rename TestC049_ProgramsInMemory TestPrograms", ""},

	{"C065", "TestC065_UnixSockets TestC065_GrantedSocket", ""},
	{"C069", "TestC069_C070_C071_Loopback TestPrograms", ""},
	{"C070", "TestC069_C070_C071_Loopback TestC070_CeilingOfARun", ""},
	{"C071", "TestC069_C070_C071_Loopback", ""},

	{"C079", "TestC079_NoUserNamespaces", "native: the table of diagnoses, for settings that no test may change"},
	{"C080", "TestC080_BrokenLauncher", ""},
	{"C081", "TestC081_MaskedProc", "native: the table of diagnoses"},
	{"C083", "", "native: the table of diagnoses; no gVisor is run here"},
	{"C084", "TestC084_C085_ReadOnly", "other versions of Landlock: package ruleset"},
	{"C085", "TestC084_C085_ReadOnly", "the init's self-test, in every cell"},
	{"C086", "TestC086_Grants", "engine: grant tests"},
	{"C089", "TestC089_Threads TestC089_C108_Namespaces", "package filter"},
	{"C090", "TestC090_IOUring", "package filter"},
	{"C091", "TestC091_OtherABIs", "package filter"},
	{"C093", "TestC020_C093_NoTerminal", "package filter"},
	{"C094", "TestC094_Families", "package filter"},
	{"C095", "TestC095_Secrets", ""},
	{"C097", "TestC097_C098_Environment", "enginetest: base"},
	{"C098", "TestC097_C098_Environment TestC098_PathDoesNotChoose", "enginetest: the caller's variables reach the script alone"},
	{"C101", "TestC101_NoTraces", ""},
	{"C102", "TestC102_BadWorkDir", ""},
	{"C105", "TestC105_Devices TestC105_OwnStreamsByName", ""},
	{"C106", "TestC106_C120_SessionsApart", ""},
	{"C108", "TestC089_C108_Namespaces TestC108_KernelCalls", "package filter"},
	{"C109", "TestC109_Posture", ""},
	{"C110", "TestC110_Enforceable TestC110_NoCgroupsInside TestC110_Rlimits TestC110_CPU TestC110_Figures", "package cgroup"},
	{"C111", "TestC111_AddressSpace", ""},
	{"C113", "TestC113_Execute", ""},
	{"C114", "TestC084_C085_ReadOnly", "enginetest: the host's files; the wasm tier's cases"},
	{"C117", "", "enginetest: a new process each"},
	{"C118", "", "the wasm tier's cases: native scripts have the host's clocks"},
	{"C119", "", "enginetest: a new process each; the wasm tier's cases"},
	{"C120", "TestC106_C120_SessionsApart TestC120_TmpIsEmptied", ""},

	{"C161", "TestC161_ThreadsEnd", ""},
	{"C162", "TestC026_C162_EmbedderKilled TestC162_LauncherKilled TestC016_C018_C020_C162_Deadline", ""},
	{"C163", "TestC168_Users TestC168_NestedRoot TestC079_NoUserNamespaces", "the combination that userns uses is the only one"},
	{"C165", "TestC165_TextFileBusy", ""},
	{"C166", "TestC166_Descriptors", ""},
	{"C167", "TestC167_SelfExecution TestC167_MarkerAlone", ""},
	{"C168", "TestC168_Users TestC168_NestedRoot", ""},
	{"C170", "TestC170_Runs TestC170_FailedOpens", "TestMain, after all tests"},
	{"C173", "TestC173_Busy", ""},
	{"C175", "", "netpolicy, with the proxy"},
}

// The table names tests that there are, and each test that is named after a case is in it.
func TestCases_Table(t *testing.T) {
	named := map[string]bool{}
	for _, c := range testCases {
		if c.tests == "" && c.elsewhere == "" {
			t.Errorf("%s is tested nowhere", c.number)
		}
		for test := range strings.FieldsSeq(c.tests) {
			named[test] = true
		}
	}
	there := testsThere(t)
	for test := range named {
		if !there[test] {
			t.Errorf("there is no test %s", test)
		}
	}
	for test := range there {
		if strings.HasPrefix(test, "TestC0") || strings.HasPrefix(test, "TestC1") {
			if !named[test] {
				t.Errorf("%s is not in the table", test)
			}
		}
	}
}

// testsThere are the names of the functions in the files of this package.
func testsThere(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the source is not here")
	}
	there := map[string]bool{}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				there[f.Name.Name] = true
			}
		}
	}
	return there
}
