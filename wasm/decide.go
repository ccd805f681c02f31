package wasm

import (
	"path"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/imports"
)

// decide says what of a script's findings keeps it from this tier; nil: nothing. It ends early, for the script, when c is
// stopped.
func (s *session) decide(p *interpreter, spec *engine.RunSpec, findings []imports.Finding, c *control) *engine.NeedsNativeError {
	config := s.config(spec.Cwd, spec.Env)
	config.Files = &workFiles{imports.Tree{Root: s.spec.Root}, s, p, spec, c}
	config.Auto = spec.Refuse >= engine.RefuseDoubtful
	config.Shadow = true
	obstacle, err := imports.Decide(findings, config)
	if err != nil {
		s.driver.opts.Logger.Warn("script not looked at", "run", spec.ID, "err", err)
		return nil
	}
	if obstacle == nil {
		return nil
	}
	return &engine.NeedsNativeError{
		Module: obstacle.Name(), Imported: obstacle.Imported(), Line: obstacle.Line, Reason: obstacle.Why(),
	}
}

// config is where a script finds modules.
func (s *session) config(cwd string, env []string) imports.Config {
	return imports.Config{
		Cwd: inWork(cwd), Path: pathOf(env), Venv: inWork(variable(env, "VIRTUAL_ENV")), WorkDir: engine.WorkDir,
		Files: nothingScanned{imports.Tree{Root: s.spec.Root}},
	}
}

// shadowed are the modules of the image in whose place a script finds files of its own.
func (s *session) shadowed(cwd string, env []string) []string {
	names, err := imports.Shadowed(s.config(cwd, env))
	if err != nil {
		s.driver.opts.Logger.Warn("work directory not looked at", "err", err)
	}
	return names
}

// nothingScanned is for who looks for files, and not into them.
type nothingScanned struct{ imports.Tree }

// Scan implements imports.Files.
func (nothingScanned) Scan(string) ([]imports.Finding, error) { return nil, imports.ErrNotPython }

// inWork makes of a path of the guest one that is relative to the work directory; empty for one that is not in it.
func inWork(p string) string {
	rest, ok := strings.CutPrefix(path.Clean(p), engine.WorkDir)
	if !ok || rest != "" && rest[0] != '/' {
		return ""
	}
	return path.Join(".", rest)
}

// pathOf are the folders of PYTHONPATH that are in the work directory.
func pathOf(env []string) (folders []string) {
	given := variable(env, "PYTHONPATH")
	if given == "" {
		return nil
	}
	for part := range strings.SplitSeq(given, ":") {
		if part = inWork(part); part != "" {
			folders = append(folders, part)
		}
	}
	return folders
}

// variable is the value of a variable of the environment, or empty.
func variable(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// workFiles is the work directory, as far as a decision looks at it: imports.Files.
type workFiles struct {
	imports.Tree
	session     *session
	interpreter *interpreter
	spec        *engine.RunSpec
	control     *control
}

// Scan implements imports.Files.
func (f *workFiles) Scan(name string) ([]imports.Finding, error) {
	source, err := f.Read(name, imports.MaxSource)
	if err != nil {
		return nil, err
	}
	findings, err := f.session.scan(f.interpreter, source, false, f.control, f.spec)
	if source == nil || err != nil {
		return nil, imports.ErrNotPython
	}
	return findings, nil
}
