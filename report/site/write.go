package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/report/attempt"
)

// Write gives every file of the site to put, which several goroutines call: the kept
// attempts whole, and of each reason so many of the others.
func (s *Site) Write(ctx context.Context, dropped int, put func(name string, content []byte) error) error {
	own, err := assets.ReadDir("assets")
	if err != nil {
		return err
	}
	names := append(slicesx.Map(own, fs.DirEntry.Name), "data/site.js")
	for k, c := range s.Corpora {
		c.choose(dropped)
		if err := c.write(ctx, fmt.Sprintf("data/%d/", k), put); err != nil {
			return err
		}
		names = append(names, c.names(fmt.Sprintf("data/%d/", k))...)
	}
	for k, r := range s.Runs {
		mine, err := r.names(fmt.Sprintf("data/r%d/", k))
		if err != nil {
			return err
		}
		names = append(names, mine...)
	}
	for _, name := range names {
		b, err := s.File(ctx, name)
		if err == nil {
			err = put(name, b)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// names are the files of a corpus that no single attempt has.
func (c *Corpus) names(folder string) []string {
	out := []string{folder + "day.js", folder + "agents.js"}
	for at := 0; at < len(c.Ledger.Lines); at += chunk {
		out = append(out, folder+"rest/"+strconv.Itoa(at)+".js")
	}
	return out
}

// write writes the attempts that have a file of their own: from their day, or from the
// rows of the corpus where it is not at hand.
func (c *Corpus) write(ctx context.Context, folder string, put func(string, []byte) error) error {
	wanted, agents := map[record]int{}, c.agentsOf()
	for at := range c.whole {
		a := c.Ledger.Lines[at].Attempt
		wanted[record{a.SourceSHA256, a.RecordSHA256}] = at
	}
	tell := func(at int, t *arena.Trace, source string) error {
		a := c.Ledger.Argue(at)
		c.Ledger.Tell(a, t, source)
		name := "attempt/" + strconv.Itoa(at)
		b, err := c.argued(strings.TrimPrefix(folder, "data/")+name, a)
		if err != nil {
			return err
		}
		return put(folder+name+".js", b)
	}
	read := c.each(ctx, func(is record, t *arena.Trace) error {
		c.kin.add(t, agents[is])
		if at, is := wanted[is]; is {
			return tell(at, t, attempt.FromDay)
		}
		return nil
	})
	return errors.Join(read, c.Ledger.EachRow(func(id string, t *arena.Trace) error {
		at, known := c.Ledger.Find(id)
		if !known || !c.whole[at] {
			return nil
		}
		if _, read := c.Days[c.Ledger.Lines[at].Attempt.SourceSHA256]; read {
			return nil
		}
		return tell(at, t, attempt.FromRow)
	}))
}

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

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return "sha256-" + base64.StdEncoding.EncodeToString(h[:])
}
