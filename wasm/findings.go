package wasm

import (
	"sync"

	"github.com/sandbar-dev/sandbar/wasm/internal/imports"
)

// The bounds of the cache: files, and findings of all of them, some 100 bytes each.
const (
	maxFindingsFiles = 4096
	maxFindings      = 200_000
)

// findingsCache knows what files import, by their content. It is shared by all sessions: what it tells depends on
// nothing else. Past its bounds it forgets, in no order. It is safe for concurrent use, and its zero value is ready.
type findingsCache struct {
	mu    sync.Mutex
	files map[findingsKey][]imports.Finding
	count int
}

// get returns what put was given for the same content. The caller must not change it.
func (c *findingsCache) get(source []byte, isMain bool) (findings []imports.Finding, known bool) {
	key := keyOf(source, isMain)
	c.mu.Lock()
	defer c.mu.Unlock()
	findings, known = c.files[key]
	return findings, known
}

// put keeps findings, which the caller must not change any more.
func (c *findingsCache) put(source []byte, isMain bool, findings []imports.Finding) {
	key := keyOf(source, isMain)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.files[key]; known || len(findings) > maxFindings/16 {
		return
	}
	if c.files == nil {
		c.files = map[findingsKey][]imports.Finding{}
	}
	for old, kept := range c.files {
		if len(c.files) < maxFindingsFiles && c.count+len(findings) <= maxFindings {
			break
		}
		delete(c.files, old)
		c.count -= len(kept)
	}
	c.files[key] = findings
	c.count += len(findings)
}
