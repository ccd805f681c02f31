package remote

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxToken is the most bytes of a file with a token.
const maxToken = 4 << 10

// ReadToken reads a token from a file that has nothing else, but white space around it. On the command line or in an
// environment others could see it.
func ReadToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read token: %w", err)
	case len(text) > maxToken:
		return "", fmt.Errorf("read token: %s has more than %d bytes", path, maxToken)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("read token: %s is empty", path)
	}
	return token, nil
}
