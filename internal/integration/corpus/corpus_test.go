// Package corpus runs scripts of the kind that language models write in the wasm tier and compares them
// with what native CPython did. See README.md.
package corpus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
)

// timeout is far above what any script needs, also under the race detector on a busy machine.
const timeout = 5 * time.Minute

func TestCorpus(t *testing.T) {
	scripts, err := filepath.Glob("scripts/*.py")
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < 80 {
		t.Fatalf("%d scripts, want at least 80", len(scripts))
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".py")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := readGolden(t, name)
			got := runScript(t, name)
			applyDifferences(t, name, want)
			compare(t, "stdout", got.stdout, want.stdout)
			compare(t, "stderr", address.ReplaceAll(got.stderr, []byte("0xADDRESS")), want.stderr)
			if got.code != want.code {
				t.Errorf("exit code %d, want %d", got.code, want.code)
			}
		})
	}
}

// TestCorpus_GoldensHaveScripts finds what a renamed or removed script left behind.
func TestCorpus_GoldensHaveScripts(t *testing.T) {
	files, err := filepath.Glob("golden/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if _, err := os.Stat(filepath.Join("scripts", name+".py")); err != nil {
			t.Errorf("%s: no such script", file)
		}
	}
	for name := range differences {
		if _, err := os.Stat(filepath.Join("scripts", name+".py")); err != nil {
			t.Errorf("differences: %s: no such script", name)
		}
	}
}

// An outcome is what is compared of a script.
type outcome struct {
	stdout, stderr []byte
	code           int
}

// address is what regen.sh takes out of stderr.
var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// runScript runs one script of the corpus in a session of its own.
func runScript(t *testing.T, name string) outcome {
	ctx := t.Context()
	session, err := sandbar.Open(ctx, &engine.Options{PythonTier: engine.TierWasm, MaxOutput: 64 << 20, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	putFiles(ctx, t, session, filepath.Join("scripts", name+".files"))
	opts := &engine.RunOptions{Args: readLines(t, filepath.Join("scripts", name+".args"))}
	if stdin := readOptional(t, filepath.Join("scripts", name+".stdin")); stdin != nil {
		opts.Stdin = bytes.NewReader(stdin)
	}
	out, err := session.Exec(ctx, string(readFile(t, filepath.Join("scripts", name+".py"))), opts)
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.Reason != engine.ReasonExited || out.Result.Truncated {
		t.Errorf("result %+v", out.Result)
	}
	return outcome{out.Stdout, out.Stderr, out.Result.ExitCode}
}

// putFiles copies the files below dir into the work directory; dir need not be there.
func putFiles(ctx context.Context, t *testing.T, session *engine.Session, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return session.PutBytes(ctx, filepath.ToSlash(rel), readFile(t, path), nil)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// readGolden reads what native Python did. A stream that is long is there as "sha256 length", and is given
// as a line that digest makes of the other side, too.
func readGolden(t *testing.T, name string) *outcome {
	t.Helper()
	base := filepath.Join("golden", name)
	code, err := strconv.Atoi(strings.TrimSpace(string(readFile(t, base+".code"))))
	if err != nil {
		t.Fatal(err)
	}
	return &outcome{readStream(t, base+".stdout"), readStream(t, base+".stderr"), code}
}

func readStream(t *testing.T, path string) []byte {
	t.Helper()
	if sum := readOptional(t, path+".sha256"); sum != nil {
		return sum
	}
	return readOptional(t, path)
}

var digestLine = regexp.MustCompile(`^[0-9a-f]{64} \d+\n$`)

// compare reports the first differences of a stream.
func compare(t *testing.T, stream string, got, want []byte) {
	t.Helper()
	if digestLine.Match(want) {
		sum := sha256.Sum256(got)
		if digest := fmt.Sprintf("%s %d\n", hex.EncodeToString(sum[:]), len(got)); digest != string(want) {
			t.Errorf("%s is %sbut native Python wrote %s", stream, digest, want)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from native Python's (-native +wasm):\n%s", stream, diffLines(want, got))
	}
}

// diffLines compares line by line, each quoted, so that no byte is invisible.
func diffLines(want, got []byte) string {
	quoted := func(b []byte) []string {
		var lines []string
		for line := range strings.Lines(string(b)) {
			lines = append(lines, strconv.QuoteToASCII(line))
		}
		return lines
	}
	return cmp.Diff(quoted(want), quoted(got))
}

// readLines reads a file of one argument a line; none when it is not there.
func readLines(t *testing.T, path string) []string {
	t.Helper()
	data := readOptional(t, path)
	if data == nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// readOptional is readFile, and nil when the file is not there.
func readOptional(t *testing.T, path string) []byte {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return readFile(t, path)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
