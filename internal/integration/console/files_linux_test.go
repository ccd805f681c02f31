package console

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// await waits until a file was downloaded. The browser gives it its name when it is whole.
func await(t *testing.T, dir, name string) string {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			return string(data)
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// upload gives a file to an input, as its dialogue would.
func (p *page) upload(selector, name, content string) {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	var input struct{ Result struct{ ObjectID string } }
	p.do("Runtime.evaluate", map[string]any{"expression": "document.querySelector('" + selector + "')"}, &input)
	p.do("DOM.setFileInputFiles", map[string]any{"files": []string{path}, "objectId": input.Result.ObjectID}, nil)
}
