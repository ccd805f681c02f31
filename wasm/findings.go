package wasm

import "sync"

// The bounds of the cache of findings: files, and bytes of findings.
const (
	maxFindingsFiles = 4096
	maxFindingsBytes = 16 << 20
)

// findingsCache knows what files import, by their content. It is shared by all sessions: what it tells depends on
// nothing else. Past its bounds it forgets, in no order. It is safe for concurrent use, and its zero value is ready.
type findingsCache struct {
	mu    sync.Mutex
	found map[findingsKey][]byte
	bytes int
}

// get returns what put was given for the same content. The caller must not change it.
func (c *findingsCache) get(source []byte, isMain bool) (findings []byte, known bool) {
	key := keyOf(source, isMain)
	c.mu.Lock()
	defer c.mu.Unlock()
	findings, known = c.found[key]
	return findings, known
}

// put keeps findings, which the caller must not change any more.
func (c *findingsCache) put(source []byte, isMain bool, findings []byte) {
	key := keyOf(source, isMain)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.found[key]; known || len(findings) > maxFindingsBytes/16 {
		return
	}
	if c.found == nil {
		c.found = map[findingsKey][]byte{}
	}
	for old, kept := range c.found {
		if len(c.found) < maxFindingsFiles && c.bytes+len(findings) <= maxFindingsBytes {
			break
		}
		delete(c.found, old)
		c.bytes -= len(kept)
	}
	c.found[key] = findings
	c.bytes += len(findings)
}
