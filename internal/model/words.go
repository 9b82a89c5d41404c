package model

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// secrets are the values that nothing kept may hold.
type secrets [][]byte

// minSecret is the shortest value that is taken for a secret: servers without
// keys are given words such as "none", which replies may well contain.
const minSecret = 8

func (c Config) secrets() secrets {
	values := append([]string{c.Key}, c.Secrets...)
	for _, base := range c.URLs {
		a, _ := newAddress(base) // Validate found it good
		values = append(values, a.secrets()...)
	}
	return slicesx.FilterMap(values, func(v string) ([]byte, bool) { return []byte(v), len(v) >= minSecret })
}

func (s secrets) hide(b []byte) []byte {
	for _, v := range s {
		if bytes.Contains(b, v) {
			b = bytes.ReplaceAll(b, v, []byte("[secret]"))
		}
	}
	return b
}

// words makes a server's words fit for people to read: no secret, no control
// characters, which a terminal would obey, and no whole page.
func (s secrets) words(said string) string {
	const enough = 300
	said = text.Line(strings.ToValidUTF8(string(s.hide([]byte(said))), "\uFFFD"))
	if first := text.ClipBytes(said, enough); len(first) < len(said) {
		return first + "…"
	}
	return said
}

// address is a base URL, apart from what is secret in it.
type address struct {
	url   *url.URL
	user  *url.Userinfo
	query string
}

func newAddress(base string) (address, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return address{}, fmt.Errorf("endpoint %q is no http URL", bare(base))
	}
	a := address{u, u.User, u.RawQuery}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return a, nil
}

// at is the URL of a page behind the base, with the query that all have.
func (a address) at(path string) *url.URL {
	u := *a.url
	u.Path, u.RawPath, u.RawQuery = strings.TrimRight(u.Path, "/")+path, "", a.query
	return &u
}

func (a address) secrets() []string {
	password, _ := a.user.Password()
	all := []string{password}
	values, _ := url.ParseQuery(a.query) // what cannot be read is no key of anybody's
	for _, v := range values {
		all = append(all, v...)
	}
	return append(all, a.query)
}

// Page is the URL of a page behind a base URL. Like a request's it holds user and
// query.
func Page(base, path string) string { return page(base, "", path) }

// PageBeside is the URL of a page beside the OpenAI interface, where servers answer
// what is not a part of it.
func PageBeside(base, path string) string { return page(base, "/v1", path) }

func page(base, without, path string) string {
	a, err := newAddress(base)
	if err != nil {
		return base + path
	}
	a.url.User, a.url.Path = a.user, strings.TrimSuffix(strings.TrimRight(a.url.Path, "/"), without)
	return a.at(path).String()
}

// Address is a URL as it may be kept and shown: without user and query, which
// hold keys.
func Address(base string) string {
	a, err := newAddress(base)
	if err != nil {
		return bare(base)
	}
	return a.url.String()
}

// bare leaves user and query out of what may be no URL.
func bare(base string) string {
	before, _, _ := strings.Cut(base, "?")
	return before[strings.LastIndexByte(before, '@')+1:]
}
