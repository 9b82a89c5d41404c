package export_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpora"
)

func sorted(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func rowsOf(t *testing.T, path string) []corpora.SFT {
	t.Helper()
	var out []corpora.SFT
	ok(t, corpora.Rows(corpora.Disk{}, path, func(r *corpora.SFT) error { out = append(out, *r); return nil }))
	return out
}

// same brings JSON into one form: keys sorted, digits kept.
func same(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	ok(t, d.Decode(&v))
	b, err := json.Marshal(v)
	ok(t, err)
	return string(b)
}

// calls lists the arguments of every call of each row, then every result.
func calls(t *testing.T, rows []corpora.SFT) [][]string {
	t.Helper()
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = messageCalls(t, "["+strings.Join(r.Messages, ",")+"]")
	}
	return out
}

func messageCalls(t *testing.T, messages string) []string {
	t.Helper()
	var args, results []string
	for _, m := range gjson.Parse(messages).Array() {
		for _, c := range m.Get("tool_calls").Array() {
			args = append(args, same(t, c.Get("function.arguments").Raw))
		}
		if m.Get("role").String() == "tool" {
			results = append(results, m.Get("content").String())
		}
	}
	return append(args, results...)
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	ok(t, err)
	if strings.HasSuffix(path, ".zst") {
		z, err := zstd.NewReader(nil)
		ok(t, err)
		defer z.Close()
		b, err = z.DecodeAll(b, nil)
		ok(t, err)
	}
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, 64<<20)
	var out []string
	for s.Scan() {
		out = append(out, s.Text())
	}
	ok(t, s.Err())
	return out
}

func lineCalls(t *testing.T, path string) [][]string {
	t.Helper()
	var out [][]string
	for _, line := range readLines(t, path) {
		out = append(out, messageCalls(t, gjson.Get(line, "messages").Raw))
	}
	return out
}

func atifCalls(t *testing.T, path string) [][]string {
	t.Helper()
	var out [][]string
	for _, line := range readLines(t, path) {
		var args, results []string
		for _, step := range gjson.Get(line, "steps").Array() {
			for _, c := range step.Get("tool_calls").Array() {
				args = append(args, same(t, c.Get("arguments").Raw))
			}
			for _, r := range step.Get("observation.results").Array() {
				results = append(results, r.Get("content").String())
			}
		}
		out = append(out, append(args, results...))
	}
	return out
}

func shareCalls(t *testing.T, path string) [][]string {
	t.Helper()
	var out [][]string
	ok(t, corpora.Rows(corpora.Disk{}, path, func(r *corpora.ShareGPT) error {
		var args, results []string
		n := 0
		for _, said := range r.Conversations {
			switch said.From {
			case "function_call":
				_, body, found := strings.Cut(said.Value, "</think>\n\n")
				if !found {
					body = said.Value
				}
				list := gjson.Parse(body)
				n = len(list.Array())
				for _, c := range list.Array() {
					args = append(args, same(t, c.Get("arguments").Raw))
				}
			case "observation":
				results = append(results, observed(t, said.Value, n)...)
			}
		}
		out = append(out, append(args, results...))
		return nil
	}))
	return out
}

// observed reads the results that answer n calls.
func observed(t *testing.T, value string, n int) []string {
	t.Helper()
	if n == 1 {
		return []string{value}
	}
	var out []string
	for _, v := range gjson.Parse(value).Array() {
		if v.Type == gjson.String {
			out = append(out, v.String())
		} else {
			out = append(out, v.Raw)
		}
	}
	return out
}

func textCalls(t *testing.T, path string) [][]string {
	t.Helper()
	var out [][]string
	ok(t, corpora.Rows(corpora.Disk{}, path, func(r *corpora.Text) error {
		var args, results []string
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				for _, c := range between(m.Content, "<tool_call>\n", "\n</tool_call>") {
					args = append(args, same(t, gjson.Get(c, "arguments").Raw))
				}
			}
			if m.Role == "user" {
				results = append(results, between(m.Content, "<tool_response>\n", "\n</tool_response>")...)
			}
		}
		out = append(out, append(args, results...))
		return nil
	}))
	return out
}

func between(s, open, end string) []string {
	var out []string
	for {
		_, rest, found := strings.Cut(s, open)
		if !found {
			return out
		}
		body, after, _ := strings.Cut(rest, end)
		out = append(out, body)
		s = after
	}
}
