package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
)

var (
	scripts = regexp.MustCompile(`<script src="([a-z]+\.js)"></script>\n`)
	styles  = regexp.MustCompile(`<link rel="stylesheet" href="([a-z]+\.css)">`)
)

// Page is a corpus of one attempt as one file that needs no other: index.html with
// scripts, style and data inside. Its policy lets run only what stands in it.
func (c *Corpus) Page(ctx context.Context) ([]byte, error) {
	c.whole = map[int]bool{0: true}
	one := &Site{Corpora: []*Corpus{c}, Open: "#/0/attempt/0"}
	page, err := assets.ReadFile("assets/index.html")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range scripts.FindAllSubmatch(page, -1) {
		if string(m[1]) == "start.js" { // which finds the data there
			names = append(names, "data/site.js", "data/0/day.js", "data/0/attempt/0.js", "data/0/agents.js")
		}
		names = append(names, string(m[1]))
	}
	var all bytes.Buffer
	for _, name := range names {
		var b []byte
		if b, err = one.File(ctx, name); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		all.Write(b)
	}
	style, err := one.File(ctx, "style.css")
	if err != nil {
		return nil, err
	}
	page = scripts.ReplaceAllLiteral(page, nil)
	page = styles.ReplaceAllLiteral(page, inside("style", style))
	page = bytes.Replace(page, []byte("script-src 'self'; style-src 'self'"), fmt.Appendf(nil, "script-src '%s'; style-src '%s'", sum(all.Bytes()), sum(style)), 1)
	return bytes.Replace(page, []byte("</body>"), append(inside("script", all.Bytes()), "\n</body>"...), 1), nil
}

func inside(tag string, content []byte) []byte {
	return fmt.Appendf(nil, "<%s>%s</%s>", tag, content, tag)
}

// sum is what a content policy names a script by.
func sum(content []byte) string {
	h := sha256.Sum256(content)
	return "sha256-" + base64.StdEncoding.EncodeToString(h[:])
}
