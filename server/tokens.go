package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

const (
	tokenPrefix  = "sbr_"
	tokenLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	tokenLength  = 32 // of 62 letters each: 190 bits

	// minToken is the length of the shortest token that StaticToken takes: 22 letters and digits can be 128 bits.
	minToken = 22
	// maxToken is the length of the longest token that is looked at.
	maxToken = 512
)

// NewToken makes a token, and its hash for a line of the file of OpenTokens. The token is shown to its owner once, and
// nowhere kept.
func NewToken() (token, hash string) {
	letters := make([]byte, 0, tokenLength)
	var random [64]byte
	for len(letters) < tokenLength {
		rand.Read(random[:]) // it never fails
		for _, b := range random {
			// 248 = 4 x 62. To take the rest of larger ones would make some letters likelier than others.
			if b < 248 && len(letters) < tokenLength {
				letters = append(letters, tokenLetters[int(b)%len(tokenLetters)])
			}
		}
	}
	token = tokenPrefix + string(letters)
	sum := sha256.Sum256([]byte(token))
	return token, hex.EncodeToString(sum[:])
}

// Tokens know callers by `Authorization: Bearer TOKEN`. A token anywhere else, as in a URL, is not looked at: URLs end up in
// logs and histories.
type Tokens struct {
	file     *watched[tokenTable]
	policies *Policies
}

// A tokenTable has principals by the SHA-256 of their tokens.
//
// A lookup in a map takes a time that depends on the key, and that is no oracle here: the key is a hash of what the caller sent.
// To learn something of a stored hash by its timing, one must choose what hash one sends, and that is to invert SHA-256; and
// who knew a stored hash still would have to invert it for a token. It is not slow and not salted for a reason: those are for passwords, which
// can be guessed. A token of 128 random bits and more cannot, at any speed, and no two are alike; but a slow hash
// would let everybody without a token spend the server's processor time.
type tokenTable map[[sha256.Size]byte]tokenEntry

type tokenEntry struct {
	hash [sha256.Size]byte
	member
}

// OpenTokens reads a file of lines
//
//	NAME SHA256 [admin] [policy=NAME]
//
// with the SHA-256 of a token in hexadecimal digits, as NewToken gives it. NAME has 1 to 64 ASCII letters, digits and any of
// ". _ - @". Several lines may have the same name, for one token to take over from another, when they have the same flags. Empty lines
// and what follows a "#" do not count. A file without tokens lets nobody in.
//
// The file is read again when it has changed, which is looked for at most once a second; so long a token that was taken out
// stays good. One that can no longer be read, or has a line that is wrong, leaves what it said before in force. A file that its
// group or others can write is refused.
func OpenTokens(path string, opts *FileOptions) (*Tokens, error) {
	o := opts.filled()
	file, err := watch(path, o.Logger, func(text []byte) (tokenTable, error) { return parseTokens(text, o.Policies) })
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	return &Tokens{file, o.Policies}, nil
}

// Warnings say what is weak about the file, though not wrong: that others can read it. Who has the hashes has no token, but
// knows the names.
func (t *Tokens) Warnings() []string { return t.file.warnings() }

// Authenticate implements Authenticator.
func (t *Tokens) Authenticate(header http.Header, _ *tls.ConnectionState) (*Principal, error) {
	token, err := bearer(header)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(token))
	entry, ok := t.file.get()[sum]
	if !ok || subtle.ConstantTimeCompare(entry.hash[:], sum[:]) != 1 {
		return nil, wrongCredentials("the token is not known")
	}
	return entry.principal(t.policies)
}

func parseTokens(text []byte, policies *Policies) (tokenTable, error) {
	table := tokenTable{}
	err := readRoster(text, policies, func(m member, key string) error {
		var hash [sha256.Size]byte
		if n, err := hex.Decode(hash[:], []byte(shortKey(key))); err != nil || n != len(hash) || len(key) != 2*n {
			return fmt.Errorf("the hash is not of %d hexadecimal digits", 2*len(hash))
		}
		if _, ok := table[hash]; ok {
			return errors.New("the hash is there already")
		}
		table[hash] = tokenEntry{hash, m}
		return nil
	})
	return table, err
}

// shortKey keeps hex.Decode within its destination.
func shortKey(key string) string { return key[:min(len(key), 2*sha256.Size)] }

// bearer is the token of the one Authorization header.
func bearer(header http.Header) (string, error) {
	values := header["Authorization"]
	switch {
	case len(values) == 0:
		return "", noCredentials("no token")
	case len(values) > 1:
		// Which one counts would be for each proxy on the way to say.
		return "", wrongCredentials("more than one Authorization header")
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	switch {
	case !ok || !strings.EqualFold(scheme, "Bearer"):
		return "", wrongCredentials("the Authorization header is not of the form Bearer TOKEN")
	case !isToken(token):
		return "", wrongCredentials("the token has a form that no token has")
	}
	return token, nil
}

// isToken reports whether s is made as tokens are: RFC 6750, b64token.
func isToken(s string) bool {
	return len(s) <= maxToken && strings.TrimRight(s, "=") != "" && isMade(strings.TrimRight(s, "="), "-._~+/")
}

// StaticToken knows one principal by one token. It must have 22 characters at least, and should be one of NewToken. Errors do
// not have it in them.
func StaticToken(p *Principal, token string) (Authenticator, error) {
	if !isToken(token) || len(token) < minToken {
		return nil, &engine.InvalidError{
			Field:   "token",
			Problem: fmt.Sprintf("is not of %d to %d letters, digits and any of - . _ ~ + /", minToken, maxToken),
		}
	}
	return &staticToken{sha256.Sum256([]byte(token)), p}, nil
}

type staticToken struct {
	hash [sha256.Size]byte
	p    *Principal
}

func (t *staticToken) Authenticate(header http.Header, _ *tls.ConnectionState) (*Principal, error) {
	token, err := bearer(header)
	if err != nil {
		return nil, err
	}
	// Of the hashes, since comparing tokens would tell the length of ours.
	if sum := sha256.Sum256([]byte(token)); subtle.ConstantTimeCompare(sum[:], t.hash[:]) != 1 {
		return nil, wrongCredentials("the token is not known")
	}
	return t.p, nil
}
