package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Certificates know callers by the client certificate of their TLS connection. Only one that the TLS server has verified
// counts, so its tls.Config needs ClientCAs, and ClientAuth tls.VerifyClientCertIfGiven or tls.RequireAndVerifyClientCert.
type Certificates struct {
	file     *watched[map[string]member] // by subject
	policies *Policies
	now      func() time.Time
}

// OpenCertificates reads a file of lines
//
//	NAME SUBJECT [admin] [policy=NAME]
//
// SUBJECT is one of "uri:", "dns:", "email:" with a subject alternative name of the certificate, or "cn:" with its common
// name. A certificate matches one that is exactly equal, dns apart, which has no case; there are no patterns. With a space
// in it, it stands in double quotes. A certificate that matches lines of two principals is refused. Common names
// are what the authority made them: use them where it gives each out once.
//
// The rest is as with OpenTokens.
func OpenCertificates(path string, opts *FileOptions) (*Certificates, error) {
	o := opts.filled()
	file, err := watch(path, o.Logger, func(text []byte) (map[string]member, error) { return parseCertificates(text, o.Policies) })
	if err != nil {
		return nil, fmt.Errorf("read certificate names: %w", err)
	}
	return &Certificates{file, o.Policies, time.Now}, nil
}

// Warnings are as with Tokens.
func (c *Certificates) Warnings() []string { return c.file.warnings() }

// Authenticate implements Authenticator.
func (c *Certificates) Authenticate(_ http.Header, state *tls.ConnectionState) (*Principal, error) {
	// PeerCertificates are what the client sent. VerifiedChains say that an authority vouches for it.
	if state == nil || len(state.VerifiedChains) == 0 || len(state.VerifiedChains[0]) == 0 {
		return nil, noCredentials("no verified client certificate")
	}
	leaf := state.VerifiedChains[0][0]
	// The handshake has looked at the time as well, but a connection may be older than that by far.
	if now := c.now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return nil, wrongCredentials("the client certificate has expired")
	}
	m, err := match(c.file.get(), leaf)
	if err != nil {
		return nil, err
	}
	return m.principal(c.policies)
}

func match(members map[string]member, leaf *x509.Certificate) (*member, error) {
	var found *member
	for _, subject := range subjects(leaf) {
		m, ok := members[subject]
		switch {
		case !ok:
		case found != nil && found.name != m.name:
			return nil, wrongCredentials("the client certificate names two principals")
		default:
			found = &m
		}
	}
	if found == nil {
		return nil, noCredentials("the client certificate names nobody here")
	}
	return found, nil
}

// subjects are the names of a certificate, as the lines of the file have them.
func subjects(leaf *x509.Certificate) []string {
	var all []string
	for _, uri := range leaf.URIs {
		all = append(all, "uri:"+uri.String())
	}
	for _, name := range leaf.DNSNames {
		all = append(all, "dns:"+strings.ToLower(name))
	}
	for _, address := range leaf.EmailAddresses {
		all = append(all, "email:"+address)
	}
	if cn := leaf.Subject.CommonName; cn != "" {
		all = append(all, "cn:"+cn)
	}
	return all
}

func parseCertificates(text []byte, policies *Policies) (map[string]member, error) {
	members := map[string]member{}
	err := readRoster(text, policies, func(m member, key string) error {
		kind, value, _ := strings.Cut(key, ":")
		switch {
		case value == "":
			return errors.New("the subject has no value")
		case kind == "dns":
			if strings.Contains(value, "*") {
				return errors.New("the subject is a pattern")
			}
			key = strings.ToLower(key)
		case kind != "uri" && kind != "email" && kind != "cn":
			return errors.New("the subject does not begin with uri:, dns:, email: or cn: as it should")
		}
		if _, ok := members[key]; ok {
			return errors.New("the subject is there already")
		}
		members[key] = m
		return nil
	})
	return members, err
}
