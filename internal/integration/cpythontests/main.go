// Cpythontests runs CPython's own tests in the wasm tier. It is run by hand, because the tests are not in
// this repository:
//
//	go run ./internal/integration/cpythontests --tests cpython/Lib/test [flags] [MODULE...]
//
// DIR is the folder Lib/test of the CPython sources of the version that the tier embeds. It may not be below
// /tmp. Scripts see that folder, read-only. Without MODULE the modules of a list are run, one after the other.
// A line per module goes to stderr, the table and the failures go to stdout as Markdown.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// modules are run without MODULE: the first short of them, with --all the others as well.
var modules = strings.Fields(`test_json test_re test_math test_decimal test_datetime test_random test_collections test_itertools
	test_functools test_dataclasses test_string test_struct test_csv test_sqlite3 test_zlib test_tempfile test_os test_pathlib
	test_asyncio.test_base_events test_asyncio.test_context test_asyncio.test_eager_task_factory test_asyncio.test_events
	test_asyncio.test_futures test_asyncio.test_futures2 test_asyncio.test_locks test_asyncio.test_pep492 test_asyncio.test_queues
	test_asyncio.test_runners test_asyncio.test_staggered test_asyncio.test_taskgroups test_asyncio.test_tasks
	test_asyncio.test_threads test_asyncio.test_timeouts test_asyncio.test_waitfor test_io test_time test_traceback test_exceptions test_generators test_dict test_set test_list test_str
	test_deque test_defaultdict test_ordered_dict test_bytes test_float test_int test_long test_enum test_typing test_hashlib
	test_bz2 test_lzma test_zipfile test_tarfile test_shutil test_glob test_argparse test_logging test_unittest test_contextlib
	test_statistics test_fractions test_heapq test_bisect test_textwrap test_pickle test_copy test_ast test_zoneinfo test_uuid
	test_base64 test_binascii test_html test_xml_etree test_urlparse test_email test_configparser test_tomllib test_syntax`)

const short = 43

func main() {
	os.Exit(run())
}

// run returns the exit code: 2 for wrong use, 1 when something failed.
func run() int {
	tests := flag.String("tests", "", "CPython's folder Lib/test (required)")
	all := flag.Bool("all", false, "run the long list of modules")
	timeout := flag.Duration("timeout", 10*time.Minute, "for one module")
	stuck := flag.Duration("stuck", 2*time.Minute, "a test that takes longer counts as failed")
	jsonFile := flag.String("json", "", "write all results to this file")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: cpythontests --tests DIR [flags] [MODULE...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	dir, err := filepath.Abs(*tests)
	if *tests == "" || err != nil {
		flag.Usage()
		return 2
	}
	names := modules[:short]
	switch {
	case flag.NArg() > 0:
		names = flag.Args()
	case *all:
		names = modules
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := false
	var results []*moduleResult
	for _, name := range names {
		r, err := runModule(ctx, dir, name, limits{*timeout, *stuck})
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return 1
		}
		fmt.Fprintln(os.Stderr, r.line())
		results = append(results, r)
		failed = failed || r.failed()
	}
	writeTable(os.Stdout, results)
	if err := writeJSON(*jsonFile, results); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if failed {
		return 1
	}
	return 0
}

// writeJSON does nothing without a file.
func writeJSON(file string, results []*moduleResult) error {
	if file == "" {
		return nil
	}
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
