package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxReply bounds a reply's body. A completion of 3,072 tokens is some 20 KB,
// with log-probabilities a megabyte.
const maxReply = 4 << 20

var errTooLong = errors.New("reply is longer than 4 MiB")

// wire is what one request looked like on the wire. It travels in the
// request's context, because go-openai shows neither bodies nor the headers of
// a failed request.
type wire struct {
	body   []byte
	status int
	header http.Header
	reply  []byte
	// broken reports whether the reply stopped before its end.
	broken bool
}

type wireKey struct{}

// doer sends go-openai's requests: it puts in the fields that go-openai leaves
// out (a temperature of 0, extra bodies), bounds the reply, and records both.
type doer struct {
	http    *http.Client
	headers map[string]string
	scrub   *strings.Replacer
}

// params are fields of the request's body; nil takes a field out.
type params map[string]any

// outgoing is what the context carries.
type outgoing struct {
	*wire
	params params
}

// Do is what go-openai calls.
func (d *doer) Do(r *http.Request) (*http.Response, error) {
	out, ok := r.Context().Value(wireKey{}).(outgoing)
	if !ok {
		return nil, errors.New("send request: it was not made by Chat")
	}
	plain, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if out.body, err = out.params.into(plain); err != nil {
		return nil, err
	}
	sent, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), bytes.NewReader(out.body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	sent.Header = r.Header.Clone()
	for name, value := range d.headers {
		sent.Header.Set(name, value)
	}
	return d.send(sent, out.wire)
}

func (d *doer) send(r *http.Request, w *wire) (*http.Response, error) {
	response, err := d.http.Do(r)
	if err != nil {
		return nil, err
	}
	w.status, w.header = response.StatusCode, response.Header
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	if closing := response.Body.Close(); err == nil {
		err = closing
	}
	if len(body) > maxReply {
		body, err = nil, errTooLong
	}
	w.reply = []byte(d.scrub.Replace(string(body)))
	if err != nil {
		w.broken = !errors.Is(err, errTooLong)
		return nil, fmt.Errorf("read reply: %w", err)
	}
	w.reply = unstreamed(w.reply)
	response.Body = io.NopCloser(bytes.NewReader(w.reply))
	return response, nil
}

// into merges the fields into a JSON object; the keys come out sorted, so that
// the same question is the same bytes.
func (p params) into(object []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	for name, value := range p {
		if value == nil {
			delete(fields, name)
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
		fields[name] = raw
	}
	return json.Marshal(fields)
}

// noRedirects keeps the key with the server it was meant for.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
