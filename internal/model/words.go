package model

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// secrets are the values, such as keys, that must not appear in anything that is stored.
type secrets [][]byte

// minSecret is the minimum length in bytes of a value that is treated as a secret. For servers
// without keys, users configure words such as "none", which replies may contain.
const minSecret = 8

func (c Config) secrets() secrets {
	values := append([]string{c.Key}, c.Secrets...)
	for _, base := range c.URLs {
		a, _ := newAddress(base) // checked by Validate
		values = append(values, a.secrets()...)
	}
	return slicesx.FilterMap(values, func(v string) ([]byte, bool) {
		return []byte(v), len(v) >= minSecret
	})
}

// hide replaces each secret in b by [secret].
func (s secrets) hide(b []byte) []byte {
	for _, v := range s {
		if bytes.Contains(b, v) {
			b = bytes.ReplaceAll(b, v, []byte("[secret]"))
		}
	}
	return b
}

// printable returns a server's message as a single line of at most 300 bytes, followed by …
// if it was cut. It removes secrets and control characters, which a terminal would interpret.
func (s secrets) printable(message string) string {
	const maxBytes = 300
	message = text.Line(strings.ToValidUTF8(string(s.hide([]byte(message))), "\uFFFD"))
	if clipped := text.ClipBytes(message, maxBytes); len(clipped) < len(message) {
		return clipped + "…"
	}
	return message
}

// address is the base URL of a server. url has no user and no query, since these may be secret.
type address struct {
	url   *url.URL
	user  *url.Userinfo
	query string
}

func newAddress(base string) (address, error) {
	u, err := url.Parse(base)
	isHTTP := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	if !isHTTP || u.Host == "" {
		return address{}, fmt.Errorf("endpoint %q is no http URL", withoutUserAndQuery(base))
	}
	a := address{url: u, user: u.User, query: u.RawQuery}
	u.User = nil
	u.RawQuery = ""
	u.Fragment = ""
	return a, nil
}

// page returns the URL of a page of the server: the base URL with path appended, and the query
// of the base URL.
func (a address) page(path string) *url.URL {
	u := *a.url
	u.Path = strings.TrimRight(u.Path, "/") + path
	u.RawPath = ""
	u.RawQuery = a.query
	return &u
}

// secrets returns the parts of the URL that may be secret: the password, the query, and the
// values in the query.
func (a address) secrets() []string {
	password, _ := a.user.Password()
	values := []string{password}
	query, _ := url.ParseQuery(a.query) // a query that cannot be parsed holds no key
	for _, v := range query {
		values = append(values, v...)
	}
	return append(values, a.query)
}

// PageURL returns the URL of a page below a base URL. The user and the query of the base URL are
// kept.
func PageURL(base, path string) string { return joinURL(base, "", path) }

// RootPageURL returns the URL of a page of the server outside of the OpenAI API, such as
// /health.
func RootPageURL(base, path string) string { return joinURL(base, "/v1", path) }

// joinURL removes suffix from the path of a base URL and appends path. User and query are kept.
// If base is not an HTTP URL, it returns base + path.
func joinURL(base, suffix, path string) string {
	a, err := newAddress(base)
	if err != nil {
		return base + path
	}
	a.url.User = a.user
	a.url.Path = strings.TrimSuffix(strings.TrimRight(a.url.Path, "/"), suffix)
	return a.page(path).String()
}

// PublicURL returns a base URL without its user and query, which may contain keys.
func PublicURL(base string) string {
	a, err := newAddress(base)
	if err != nil {
		return withoutUserAndQuery(base)
	}
	return a.url.String()
}

// withoutUserAndQuery returns a string that may not be a valid URL without its query, and without
// everything up to the end of a user name.
func withoutUserAndQuery(base string) string {
	path, _, _ := strings.Cut(base, "?")
	return path[strings.LastIndexByte(path, '@')+1:]
}
