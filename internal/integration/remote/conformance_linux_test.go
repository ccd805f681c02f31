package remote

import (
	"crypto/tls"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/enginetest"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/internal/testserver"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/server"
)

// All pairs of a tier and a transport take some minutes. Without the flag each tier and each transport has one.
var conformanceAll = flag.Bool("conformance.all", false, "run the conformance suite for each tier over each transport")

// A place is where scripts of the suite run.
type place struct {
	name    string
	backend sandbar.Backend
	tier    engine.Tier
	caps    enginetest.Caps
}

func places(t *testing.T) []place {
	t.Helper()
	list := []place{{name: "wasm", backend: sandbar.Userns, tier: engine.TierWasm, caps: enginetest.Caps{
		Types: []engine.ScriptType{engine.Python}, Memory: true, CPU: true, Tmp: true, Live: true,
	}}}
	for _, b := range []sandbar.Backend{sandbar.Userns, sandbar.Bubblewrap} {
		d, err := native.New(&native.Options{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		lacks := d.Info().Unenforced
		holds := func(limit string) bool { return !slices.Contains(lacks, limit) }
		list = append(list, place{name: string(b), backend: b, tier: engine.TierNative, caps: enginetest.Caps{
			Types: []engine.ScriptType{engine.Shell}, Native: true,
			Memory: holds("Memory"), CPU: holds("CPU"), Disk: true, Tmp: holds("Tmp"), FileSize: holds("FileSize"), Processes: holds("Processes"),
		}})
	}
	return list
}

// transports gives a client's options and a URL for each way to a server.
func transports(t *testing.T) map[string]func(*testing.T) (string, remote.ClientOptions) {
	t.Helper()
	backends := []string{"--backend", "userns", "--backend", "bubblewrap"}
	return map[string]func(*testing.T) (string, remote.ClientOptions){
		"unix": func(t *testing.T) (string, remote.ClientOptions) {
			// Its user may do everything, as the suite does.
			s := testserver.Start(t, append(backends, "--listen", "unix:"+filepath.Join(t.TempDir(), "s"))...)
			return s.URLs[0], remote.ClientOptions{}
		},
		"h2c": func(t *testing.T) (string, remote.ClientOptions) {
			args, token := credentials(t)
			return testserver.Start(t, append(backends, args...)...).URLs[0], remote.ClientOptions{Token: token}
		},
		"tls": func(t *testing.T) (string, remote.ClientOptions) {
			args, token := credentials(t)
			cert, key, roots := certificate(t)
			s := testserver.Start(t, append(append(backends, args...), "--tls-cert", cert, "--tls-key", key)...)
			return s.URLs[0], remote.ClientOptions{Token: token, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		},
	}
}

// credentials makes the files of a server whose one principal may ask for all that the suite asks for.
func credentials(t *testing.T) (args []string, token string) {
	t.Helper()
	dir := t.TempDir()
	token, hash := server.NewToken()
	tokens, policy := filepath.Join(dir, "tokens"), filepath.Join(dir, "policy.yaml")
	write(t, tokens, "tester "+hash+" admin\n")
	write(t, policy, ownersPolicy)
	return []string{"--tokens", tokens, "--policy", policy}, token
}

// ownersPolicy is what server.OwnerPolicy has, but for the backend none.
const ownersPolicy = `default:
  backends: ["*"]
  network: [open]
  venv: true
  work_dirs: [/]
  overlays: [/]
  read_only: [/]
  read_write: [/]
  max_limits: {memory: none, cpu: none, output: none, open_files: none, file_size: none, tmp: none, tmp_files: none, disk: none, disk_files: none, processes: none}
  max_timeout: none
  allow_detach: true
  allow_best_effort: true
`

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The contract holds for sessions of the real program.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees nothing of another process")
	}
	needBackend(t, sandbar.Userns)
	needBackend(t, sandbar.Bubblewrap)
	ways := transports(t)
	for i, p := range places(t) {
		for k, way := range []string{"unix", "h2c", "tls"} {
			if i != k && !*conformanceAll {
				continue
			}
			t.Run(p.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				url, client := ways[way](t)
				enginetest.Conformance(t, p.open(url, client), p.caps)
			})
		}
	}
}

// open opens sessions of the suite.
func (p *place) open(url string, client remote.ClientOptions) enginetest.Open {
	return func(tb testing.TB, opts *engine.Options) *engine.Session {
		tb.Helper()
		o := &remote.Options{ClientOptions: client}
		if opts != nil {
			o.Options = *opts
		}
		o.Backend, o.PythonTier = string(p.backend), p.tier
		s, err := remote.Open(tb.Context(), url, o)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := s.Close(); err != nil {
				tb.Error(err)
			}
		})
		return s
	}
}
