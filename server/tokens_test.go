package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// writeConfig writes a file as a server's owner would.
func writeConfig(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func authorization(values ...string) http.Header { return http.Header{"Authorization": values} }

func openTokens(t *testing.T, text string) *Tokens {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	writeConfig(t, path, text)
	tokens, err := OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestNewToken(t *testing.T) {
	seen := map[string]bool{}
	letters := map[rune]bool{}
	for range 200 {
		token, hash := NewToken()
		if !strings.HasPrefix(token, "sbr_") || len(token) != 36 || !isMade(token[4:], "") || hash != hashOf(token) {
			t.Fatalf("NewToken() = %q, %q", token, hash)
		}
		if seen[token] {
			t.Fatal("a token came twice")
		}
		seen[token] = true
		for _, c := range token[4:] {
			letters[c] = true
		}
	}
	if len(letters) != len(tokenLetters) {
		t.Errorf("%d different letters in 200 tokens, want %d", len(letters), len(tokenLetters))
	}
}

func TestTokens_Authenticate(t *testing.T) {
	ada, adaHash := NewToken()
	next, nextHash := NewToken()
	root, rootHash := NewToken()
	tokens := openTokens(t, fmt.Sprintf("# people\n\nada %s\nada %s # the next one\r\nroot %s admin policy=default\n", adaHash, strings.ToUpper(nextHash), rootHash))
	for _, tt := range []struct {
		name   string
		header http.Header
		want   string // the principal, or empty
	}{
		{"token", authorization("Bearer " + ada), "ada"},
		{"next token", authorization("Bearer " + next), "ada"},
		{"lower-case scheme", authorization("bearer " + root), "root"},
		{"upper-case scheme", authorization("BEARER " + root), "root"},
		{"no header", http.Header{}, ""},
		{"empty", authorization(""), ""},
		{"scheme alone", authorization("Bearer"), ""},
		{"no token", authorization("Bearer "), ""},
		{"no scheme", authorization(ada), ""},
		{"other scheme", authorization("Basic " + ada), ""},
		{"truncated", authorization("Bearer " + ada[:len(ada)-1]), ""},
		{"junk", authorization("Bearer " + ada + "x"), ""},
		{"junk after a space", authorization("Bearer " + ada + " x"), ""},
		{"junk after a comma", authorization("Bearer " + ada + ", Bearer " + root), ""},
		{"padded", authorization("Bearer " + ada + "="), ""},
		{"two spaces", authorization("Bearer  " + ada), ""},
		{"tab", authorization("Bearer\t" + ada), ""},
		{"another case", authorization("Bearer " + strings.ToUpper(ada)), ""},
		{"NUL", authorization("Bearer " + ada + "\x00"), ""},
		{"its hash", authorization("Bearer " + adaHash), ""},
		{"two headers", authorization("Bearer "+ada, "Bearer "+ada), ""},
		{"empty and good", authorization("", "Bearer "+ada), ""},
		{"very long", authorization("Bearer " + strings.Repeat("a", 1<<20)), ""},
		{"another header", http.Header{"Proxy-Authorization": {"Bearer " + ada}, "Cookie": {"token=" + ada}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tokens.Authenticate(tt.header, nil)
			if tt.want == "" {
				checkRefused(t, p, err, ada)
				return
			}
			if err != nil || p.Name != tt.want || p.Admin != (tt.want == "root") || p.Policy == nil {
				t.Errorf("Authenticate = %+v, %v, want %s", p, err, tt.want)
			}
		})
	}
}

// checkRefused wants ErrUnauthenticated without the token in it.
func checkRefused(t *testing.T, p *Principal, err error, token string) {
	t.Helper()
	if p != nil || !errors.Is(err, engine.ErrUnauthenticated) {
		t.Errorf("Authenticate = %+v, %v, want ErrUnauthenticated", p, err)
		return
	}
	if strings.Contains(err.Error(), token[:8]) || strings.Contains(err.Error(), hashOf(token)[:8]) {
		t.Errorf("the error tells of the token: %v", err)
	}
}

func TestOpenTokens_BadLines(t *testing.T) {
	secret, hash := NewToken()
	_, other := NewToken()
	for _, tt := range []struct{ name, text, want string }{
		{"one field", "\nada\n", "line 2:"},
		{"a token in place of its hash", "# x\n\nada " + secret + "\n", "line 3:"},
		{"a token in place of the name", secret + "! " + hash, "line 1:"},
		{"short hash", "ada " + hash[:62], "line 1:"},
		{"long hash", "ada " + hash + "00", "line 1:"},
		{"odd hash", "ada " + hash[:63], "line 1:"},
		{"not hexadecimal", "ada g" + hash[1:], "line 1:"},
		{"unknown flag", "ada " + hash + " root", "field 3"},
		{"admin twice", "ada " + hash + " admin admin", "field 4"},
		{"policy twice", "ada " + hash + " policy=default policy=default", "field 4"},
		{"unknown policy", "ada " + hash + " policy=other", "no policy"},
		{"empty policy", "ada " + hash + " policy=", "field 3"},
		{"hash twice", "ada " + hash + "\nbob " + hash, "line 2:"},
		{"other flags", "ada " + hash + "\nbob " + secretHash(t) + "\nada " + other + " admin", "line 3: has the name of line 1"},
		{"name with a slash", "a/b " + hash, "line 1:"},
		{"name with a control character", "a\x1b[2J " + hash, "line 1:"},
		{"long name", strings.Repeat("a", 65) + " " + hash, "line 1:"},
		{"open quote", `ada "` + hash, "line 1:"},
		{"NUL", "ada " + hash + "\x00", "line 1:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens")
			writeConfig(t, path, tt.text)
			_, err := OpenTokens(path, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("OpenTokens = %v, want %q in it", err, tt.want)
			}
			if strings.Contains(err.Error(), secret[:8]) || strings.Contains(err.Error(), hash[:8]) {
				t.Errorf("the error has the line's text: %v", err)
			}
		})
	}
}

func secretHash(t *testing.T) string {
	t.Helper()
	_, hash := NewToken()
	return hash
}

func TestOpenTokens_Modes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for _, tt := range []struct {
		mode     os.FileMode
		refused  bool
		warnings int
	}{
		{0o600, false, 0},
		{0o400, false, 0},
		{0o640, false, 0},
		{0o644, false, 1},
		{0o604, false, 1},
		{0o620, true, 0},
		{0o602, true, 0},
		{0o666, true, 0},
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		writeConfig(t, path, "")
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		tokens, err := OpenTokens(path, nil)
		switch {
		case (err != nil) != tt.refused:
			t.Errorf("OpenTokens with mode %o = %v, want refused %v", tt.mode, err, tt.refused)
		case err == nil && len(tokens.Warnings()) != tt.warnings:
			t.Errorf("mode %o has warnings %q, want %d", tt.mode, tokens.Warnings(), tt.warnings)
		}
	}
	if _, err := OpenTokens(t.TempDir(), nil); err == nil {
		t.Error("OpenTokens of a directory succeeded")
	}
	if _, err := OpenTokens(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenTokens of no file = %v", err)
	}
	path := filepath.Join(t.TempDir(), "large")
	writeConfig(t, path, strings.Repeat("#\n", maxConfig/2+1))
	if _, err := OpenTokens(path, nil); err == nil {
		t.Error("OpenTokens of a file that is too large succeeded")
	}
}

// A stepClock is a time that a test moves.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestTokens_Reload(t *testing.T) {
	a, aHash := NewToken()
	b, bHash := NewToken()
	path := filepath.Join(t.TempDir(), "tokens")
	writeConfig(t, path, "ada "+aHash+"\n")
	var logged bytes.Buffer
	tokens, err := OpenTokens(path, &FileOptions{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	clock := &stepClock{now: time.Now().Add(time.Hour)}
	tokens.file.now = clock.Now
	check := func(when string, wantA, wantB bool) {
		t.Helper()
		for _, tt := range []struct {
			token string
			want  bool
		}{{a, wantA}, {b, wantB}} {
			if _, err := tokens.Authenticate(authorization("Bearer "+tt.token), nil); (err == nil) != tt.want {
				t.Errorf("%s: Authenticate = %v, want success %v", when, err, tt.want)
			}
		}
	}
	check("at first", true, false)
	writeConfig(t, path, "bob "+bHash+"\n") // of the same size
	check("within a second", true, false)
	clock.step(watchEvery)
	check("after a second", false, true)

	writeConfig(t, path, "bob nonsense\n")
	for range 3 {
		clock.step(watchEvery)
		check("with a bad line", false, true)
	}
	if n := strings.Count(logged.String(), "level=ERROR"); n != 1 {
		t.Errorf("a bad file was logged %d times, want once:\n%s", n, &logged)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	clock.step(watchEvery)
	check("without the file", false, true)

	writeConfig(t, path, "ada "+aHash+"\nbob "+bHash+"\n")
	clock.step(watchEvery)
	check("with a good file again", true, true)
	writeConfig(t, path, "")
	clock.step(watchEvery)
	check("with an empty file", false, false)
	for _, secret := range []string{a, b, aHash, bHash, "nonsense"} {
		if strings.Contains(logged.String(), secret[:8]) {
			t.Errorf("the log has %q in it:\n%s", secret, &logged)
		}
	}
}

// A change within the tick of the file system's clock leaves size, time and inode as they were.
func TestTokens_ReloadSameTime(t *testing.T) {
	a, aHash := NewToken()
	_, bHash := NewToken()
	path := filepath.Join(t.TempDir(), "tokens")
	writeConfig(t, path, "ada "+aHash+"\n")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	writeConfig(t, path, "bob "+bHash+"\n")
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	clock := &stepClock{now: time.Now().Add(watchEvery)}
	tokens.file.now = clock.Now
	if _, err := tokens.Authenticate(authorization("Bearer "+a), nil); err == nil {
		t.Error("a token that was taken out right after the file was read is good for ever")
	}
}

func TestTokens_ReloadMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	a, aHash := NewToken()
	b, bHash := NewToken()
	path := filepath.Join(t.TempDir(), "tokens")
	writeConfig(t, path, "ada "+aHash+"\n")
	tokens, err := OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	writeConfig(t, path, "eve "+bHash+"\n")
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	clock := &stepClock{now: time.Now().Add(time.Hour)}
	tokens.file.now = clock.Now
	if _, err := tokens.Authenticate(authorization("Bearer "+b), nil); err == nil {
		t.Error("a line counts of a file that everybody can write")
	}
	if _, err := tokens.Authenticate(authorization("Bearer "+a), nil); err != nil {
		t.Errorf("the last good content is gone: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	clock.step(watchEvery)
	if _, err := tokens.Authenticate(authorization("Bearer "+b), nil); err != nil {
		t.Errorf("a file whose mode was mended is not read: %v", err)
	}
}

func TestTokens_Hammer(t *testing.T) {
	a, aHash := NewToken()
	path := filepath.Join(t.TempDir(), "tokens")
	writeConfig(t, path, "ada "+aHash+"\n")
	tokens, err := OpenTokens(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	clock := &stepClock{now: time.Now()}
	tokens.file.now = clock.Now
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				clock.step(watchEvery / 4)
				if _, err := tokens.Authenticate(authorization("Bearer "+a), nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 20 {
		next := fmt.Sprintf("%s.%d", path, i)
		writeConfig(t, next, fmt.Sprintf("# %d\nada %s\n", i, aHash))
		if err := os.Rename(next, path); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

func TestStaticToken(t *testing.T) {
	token, _ := NewToken()
	auth, err := StaticToken(&Principal{Name: "me"}, token)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := auth.Authenticate(authorization("Bearer "+token), nil); err != nil || p.Name != "me" {
		t.Errorf("Authenticate = %+v, %v", p, err)
	}
	for _, header := range []http.Header{{}, authorization("Bearer " + token[:35]), authorization("Bearer " + token + "x"), authorization("Bearer ")} {
		p, err := auth.Authenticate(header, nil)
		checkRefused(t, p, err, token)
	}
	for _, bad := range []string{"", "short-secret", strings.Repeat(" ", 40), strings.Repeat("=", 40), "has a space in it, which no token has"} {
		if _, err := StaticToken(&Principal{}, bad); !errors.Is(err, engine.ErrInvalid) || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("StaticToken(%q) = %v, want ErrInvalid without the token", bad, err)
		}
	}
}

func TestFirstOf(t *testing.T) {
	token, _ := NewToken()
	static, err := StaticToken(&Principal{Name: "me"}, token)
	if err != nil {
		t.Fatal(err)
	}
	auth := FirstOf(static, Anonymous(&Principal{Name: "anybody"}))
	for _, tt := range []struct {
		header http.Header
		want   string
	}{
		{authorization("Bearer " + token), "me"},
		{http.Header{}, "anybody"},
	} {
		if p, err := auth.Authenticate(tt.header, nil); err != nil || p.Name != tt.want {
			t.Errorf("Authenticate = %+v, %v, want %s", p, err, tt.want)
		}
	}
	p, err := auth.Authenticate(authorization("Bearer "+token[:30]), nil)
	checkRefused(t, p, err, token)
	p, err = FirstOf().Authenticate(authorization("Bearer "+token), nil)
	checkRefused(t, p, err, token)
}

func FuzzTokens(f *testing.F) {
	_, hash := NewToken()
	f.Add([]byte("ada " + hash + " admin policy=default # x\n\n\"bob\" " + hash))
	policies := OnePolicy(DefaultPolicy())
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := parseTokens(text, policies)
		if err != nil {
			return
		}
		for hash, entry := range table {
			if hash != entry.hash || !isName(entry.name) || !bytes.Contains(bytes.ToLower(text), []byte(hex.EncodeToString(hash[:]))) && !bytes.Contains(text, []byte(`"`)) {
				t.Errorf("entry %+v of %q", entry, text)
			}
			if entry.admin && !bytes.Contains(text, []byte("admin")) && !bytes.Contains(text, []byte(`"`)) {
				t.Errorf("%q makes an administrator", text)
			}
		}
	})
}
