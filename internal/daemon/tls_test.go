package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// An authority makes certificates for a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

var serial int64

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key, a.pem, _ = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// sign makes a certificate; without an authority's own one it is that.
func (a *authority) sign(c *x509.Certificate) (cert *x509.Certificate, key *ecdsa.PrivateKey, certPEM, keyPEM string) {
	a.t.Helper()
	serial++
	c.SerialNumber = big.NewInt(serial)
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

// forServer makes the files of a server on 127.0.0.1.
func (a *authority) forServer() (certPEM, keyPEM string) {
	_, _, certPEM, keyPEM = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return certPEM, keyPEM
}

// forClient makes a certificate with a URI.
func (a *authority) forClient(uri string) tls.Certificate {
	a.t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		a.t.Fatal(err)
	}
	_, _, certPEM, keyPEM := a.sign(&x509.Certificate{URIs: []*url.URL{u}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	pair, err := tls.X509KeyPair([]byte(certPEM), []byte(keyPEM))
	if err != nil {
		a.t.Fatal(err)
	}
	return pair
}

// tlsClient trusts an authority, and shows certificates when there are some.
func tlsClient(t *testing.T, address string, trust *authority, certs ...tls.Certificate) sandboxv2connect.SandboxServiceClient {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(trust.cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certs}, ForceAttemptHTTP2: true}
	return clientOver(t, transport, address)
}

func TestServe_TLSIsReadAgain(t *testing.T) {
	one, two := newAuthority(t, "one"), newAuthority(t, "two")
	certPEM, keyPEM := one.forServer()
	cert, key := write(t, certPEM), write(t, keyPEM)
	p := launch(t, backend, "--listen=127.0.0.1:0", "--tls-cert="+cert, "--tls-key="+key)
	address := p.line("listening on ")
	if _, err := sessions(t, tlsClient(t, address, one)); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	if _, err := sessions(t, tlsClient(t, address, two)); err == nil {
		t.Error("a client that trusts another authority got through")
	}
	replace(t, cert, "not a certificate")
	until(t, "that is noticed", func() bool {
		if _, err := sessions(t, tlsClient(t, address, one)); err != nil {
			t.Fatalf("what was there before is not in force any more: %v", err)
		}
		return logHas(p, "TLS files not usable")
	})
	certPEM, keyPEM = two.forServer()
	replace(t, key, keyPEM)
	replace(t, cert, certPEM)
	until(t, "the new certificate is used", func() bool { _, err := sessions(t, tlsClient(t, address, two)); return err == nil })
}

func TestServe_ClientCertificates(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	certPEM, keyPEM := ours.forServer()
	names := write(t, "ann uri:spiffe://test/ann\n")
	ca := write(t, ours.pem)
	flags := []string{
		backend, "--listen=127.0.0.1:0", "--tls-cert=" + write(t, certPEM), "--tls-key=" + write(t, keyPEM),
		"--client-ca=" + ca, "--certificates=" + names,
	}
	p := launch(t, flags...)
	address := p.line("listening on ")
	if _, err := sessions(t, tlsClient(t, address, ours, ours.forClient("spiffe://test/ann"))); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	if _, err := sessions(t, tlsClient(t, address, ours, ours.forClient("spiffe://test/eve"))); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("with the certificate of nobody = %v, want unauthenticated", err)
	}
	if _, err := sessions(t, tlsClient(t, address, ours, theirs.forClient("spiffe://test/ann"))); err == nil {
		t.Error("with a certificate of another authority: got through")
	}
	if _, err := sessions(t, tlsClient(t, address, ours)); err == nil {
		t.Error("without a certificate: got through")
	}
	// The authorities change while it runs.
	until(t, "an authority that was added counts", func() bool {
		replace(t, ca, ours.pem+theirs.pem)
		_, err := sessions(t, tlsClient(t, address, ours, theirs.forClient("spiffe://test/ann")))
		return err == nil
	})

	// With tokens as well, a client needs one of the two.
	line, token, err := tokenLine("ben", false, "")
	if err != nil {
		t.Fatal(err)
	}
	p = launch(t, append(flags, "--tokens="+write(t, line))...)
	address = p.line("listening on ")
	if _, err := sessions(t, tlsClient(t, address, ours)); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("with neither = %v, want unauthenticated", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ours.cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	if _, err := sessions(t, clientOver(t, transport, address, bearer(token))); err != nil {
		t.Errorf("with a token: %v", err)
	}
}

func TestOpenTLS_Errors(t *testing.T) {
	a := newAuthority(t, "a")
	certPEM, keyPEM := a.forServer()
	cert, key := write(t, certPEM), write(t, keyPEM)
	for name, c := range map[string]*Config{
		"no file":       {TLSCert: cert, TLSKey: filepath.Join(t.TempDir(), "none")},
		"not a key":     {TLSCert: cert, TLSKey: cert},
		"no authority":  {TLSCert: cert, TLSKey: key, ClientCA: write(t, "nothing")},
		"another's key": {TLSCert: write(t, a.pem), TLSKey: key},
	} {
		if _, err := openTLS(c, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
