package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// An authority issues certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{key: newKey(t)}
	a.cert = sign(t, template, template, &a.key.PublicKey, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, template, parent *x509.Certificate, pub *ecdsa.PublicKey, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, pub, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// issue makes a certificate with the subject and names of the template.
func (a *authority) issue(t *testing.T, template x509.Certificate, usage x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	key := newKey(t)
	cert := sign(t, &template, a.cert, &key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const certificateLines = `
ada    uri:spiffe://example.org/ada
bob    dns:Bob.example.org            admin
carol  email:carol@example.org
dave   "cn:Dave of Example"
dave   cn:dave                        # the old name
`

func openCertificates(t *testing.T, text string) *Certificates {
	t.Helper()
	path := filepath.Join(t.TempDir(), "certificates")
	writeConfig(t, path, text)
	certs, err := OpenCertificates(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return certs
}

// Real handshakes: what counts is what crypto/tls says of a client, and when.
func TestCertificates_TLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	certs := openCertificates(t, certificateLines)
	named := x509.Certificate{Subject: pkix.Name{CommonName: "dave"}}
	client := x509.ExtKeyUsageClientAuth
	for _, tt := range []struct {
		name string
		mode tls.ClientAuthType
		cert *tls.Certificate
		want string // the principal; empty: refused by Authenticate; "handshake": refused before
	}{
		{"uri", tls.VerifyClientCertIfGiven, new(ours.issue(t, x509.Certificate{URIs: []*url.URL{mustURL(t, "spiffe://example.org/ada")}}, client)), "ada"},
		{"dns", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{DNSNames: []string{"bob.Example.org"}}, client)), "bob"},
		{"email", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{EmailAddresses: []string{"carol@example.org"}}, client)), "carol"},
		{"common name", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "Dave of Example"}}, client)), "dave"},
		{"two names of one", tls.RequireAndVerifyClientCert, new(ours.issue(t, named, client)), "dave"},
		{"two principals", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{DNSNames: []string{"bob.example.org"}, Subject: named.Subject}, client)), ""},
		{"nobody", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "eve"}}, client)), ""},
		{"a dns name as common name", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "bob.example.org"}}, client)), ""},
		{"a longer name", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{URIs: []*url.URL{mustURL(t, "spiffe://example.org/ada/x")}}, client)), ""},
		{"a pattern", tls.RequireAndVerifyClientCert, new(ours.issue(t, x509.Certificate{DNSNames: []string{"*.example.org"}}, client)), ""},
		{"none", tls.VerifyClientCertIfGiven, nil, ""},
		// These servers take what a client sends without asking who vouches for it.
		{"another authority, not verified", tls.RequireAnyClientCert, new(theirs.issue(t, named, client)), ""},
		{"another authority, asked for", tls.RequestClientCert, new(theirs.issue(t, named, client)), ""},
		{"our authority, not verified", tls.RequireAnyClientCert, new(ours.issue(t, named, client)), ""},
		{"another authority", tls.VerifyClientCertIfGiven, new(theirs.issue(t, named, client)), "handshake"},
		{"a server's certificate", tls.VerifyClientCertIfGiven, new(ours.issue(t, named, x509.ExtKeyUsageServerAuth)), "handshake"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer, err := callTLS(t, certs, ours, tt.mode, tt.cert)
			switch {
			case tt.want == "handshake":
				if err == nil {
					t.Errorf("the server answered %q", answer)
				}
			case err != nil:
				t.Error(err)
			case answer != tt.want:
				t.Errorf("the caller is %q, want %q", answer, tt.want)
			}
		})
	}
}

// callTLS makes a request to a server with this authenticator. The answer is the name of the principal, or empty.
func callTLS(t *testing.T, auth Authenticator, ca *authority, mode tls.ClientAuthType, cert *tls.Certificate) (string, error) {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := auth.Authenticate(r.Header, r.TLS)
		switch {
		case err == nil:
			w.Header().Set("X-Name", p.Name)
		case !errors.Is(err, engine.ErrUnauthenticated):
			t.Errorf("Authenticate = %v, want ErrUnauthenticated", err)
		}
	}))
	// Some handshakes are meant to fail.
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	srv.TLS = &tls.Config{
		MinVersion: tls.VersionTLS12, ClientCAs: ca.pool(), ClientAuth: mode,
		Certificates: []tls.Certificate{ca.issue(t, x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, x509.ExtKeyUsageServerAuth)},
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ca.pool()}
	if cert != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	}
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return resp.Header.Get("X-Name"), nil
}

// A connection may be older than its certificate.
func TestCertificates_Expired(t *testing.T) {
	certs := openCertificates(t, certificateLines)
	leaf := newAuthority(t).issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "dave"}}, x509.ExtKeyUsageClientAuth).Leaf
	state := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}
	if p, err := certs.Authenticate(nil, state); err != nil || p.Name != "dave" {
		t.Fatalf("Authenticate = %+v, %v", p, err)
	}
	for _, now := range []time.Time{leaf.NotAfter.Add(time.Second), leaf.NotBefore.Add(-time.Second)} {
		certs.now = func() time.Time { return now }
		if p, err := certs.Authenticate(nil, state); !errors.Is(err, engine.ErrUnauthenticated) {
			t.Errorf("Authenticate at %v = %+v, %v, want ErrUnauthenticated", now, p, err)
		}
	}
}

func TestOpenCertificates_BadLines(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no kind", "\nada ada.example.org", "line 2:"},
		{"unknown kind", "ada ip:192.0.2.1", "line 1:"},
		{"no value", "ada dns:", "line 1:"},
		{"empty", `ada ""`, "line 1:"},
		{"pattern", "ada dns:*.example.org", "pattern"},
		{"subject twice", "ada dns:a.example.org\nbob dns:A.example.org", "line 2:"},
		{"other flags", "ada cn:a\nada cn:b admin", "line 2:"},
		{"text after a quote", `ada "cn:a"b`, "line 1:"},
		{"space without quotes", "ada cn:Ada of Example", "field 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "certificates")
			writeConfig(t, path, tt.text)
			if _, err := OpenCertificates(path, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("OpenCertificates = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func FuzzCertificates(f *testing.F) {
	f.Add([]byte(certificateLines))
	policies := OnePolicy(DefaultPolicy())
	f.Fuzz(func(t *testing.T, text []byte) {
		members, err := parseCertificates(text, policies)
		if err != nil {
			return
		}
		for subject, m := range members {
			kind, value, _ := strings.Cut(subject, ":")
			if value == "" || !strings.Contains("uri dns email cn", kind) || !isName(m.name) || m.policy != defaultPolicy {
				t.Errorf("%q is %+v, of %q", subject, m, text)
			}
		}
	})
}
