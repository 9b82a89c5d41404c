package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/report/attempt"
)

// Write calls put for every file of the site, from several goroutines. It writes a separate file
// for each kept attempt, and for up to perReason attempts of each reason of a rejection.
func (s *Site) Write(
	ctx context.Context,
	perReason int,
	put func(name string, content []byte) error,
) error {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		return err
	}
	names := append(slicesx.Map(entries, fs.DirEntry.Name), "data/site.js")
	for k, c := range s.Corpora {
		c.chooseFiles(perReason)
		if err := c.write(ctx, fmt.Sprintf("data/%d/", k), put); err != nil {
			return err
		}
		names = append(names, c.names(fmt.Sprintf("data/%d/", k))...)
	}
	for k, r := range s.Runs {
		runNames, err := r.names(fmt.Sprintf("data/r%d/", k))
		if err != nil {
			return err
		}
		names = append(names, runNames...)
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

// IsAsset reports whether a static file of the site has the name.
func IsAsset(name string) bool {
	_, err := assets.ReadFile("assets/" + name)
	return err == nil
}

// names returns the names of all files of the site on a corpus, except those on single attempts.
func (c *Corpus) names(folder string) []string {
	out := []string{folder + "day.js", folder + "agents.js"}
	for i := 0; i < len(c.Ledger.Lines); i += chunkSize {
		out = append(out, folder+"rest/"+strconv.Itoa(i)+".js")
	}
	return out
}

// write writes the files on the attempts that get one each. Their dialogue is from the input file
// or, if that is missing, from the row of the corpus. It also collects the work of all agents for
// the comparison of agents.
func (c *Corpus) write(
	ctx context.Context,
	folder string,
	put func(string, []byte) error,
) error {
	agents := c.agentsByRecord()
	indices := map[record]int{}
	for i := range c.withFile {
		a := c.Ledger.Lines[i].Attempt
		indices[record{a.SourceSHA256, a.RecordSHA256}] = i
	}
	writeAttempt := func(i int, t *arena.Trace, source string) error {
		a := c.Ledger.Argue(i)
		c.Ledger.Tell(a, t, source)
		name := "attempt/" + strconv.Itoa(i)
		b, err := c.argumentScript(strings.TrimPrefix(folder, "data/")+name, a)
		if err != nil {
			return err
		}
		return put(folder+name+".js", b)
	}
	err := c.eachTrace(ctx, func(r record, t *arena.Trace) error {
		c.kin.add(t, agents[r])
		if i, ok := indices[r]; ok {
			return writeAttempt(i, t, attempt.FromDay)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.Ledger.EachRow(func(id string, t *arena.Trace) error {
		i, ok := c.Ledger.Find(id)
		if !ok || !c.withFile[i] {
			return nil
		}
		if _, hasDay := c.Days.Inputs[c.Ledger.Lines[i].Attempt.SourceSHA256]; hasDay {
			return nil
		}
		return writeAttempt(i, t, attempt.FromRow)
	})
}

var (
	scripts = regexp.MustCompile(`<script src="([a-z]+\.js)"></script>\n`)
	styles  = regexp.MustCompile(`<link rel="stylesheet" href="([a-z]+\.css)">`)
)

// Page returns the page of a corpus with one attempt as a single HTML file, with scripts, style
// and data inlined. Its content security policy allows only these.
func (c *Corpus) Page(ctx context.Context) ([]byte, error) {
	c.withFile = map[int]bool{0: true}
	site := &Site{Corpora: []*Corpus{c}, Open: "#/0/attempt/0"}
	page, err := assets.ReadFile("assets/index.html")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range scripts.FindAllSubmatch(page, -1) {
		if string(m[1]) == "start.js" { // it reads the data at once
			names = append(names, "data/site.js", "data/0/day.js", "data/0/attempt/0.js", "data/0/agents.js")
		}
		names = append(names, string(m[1]))
	}
	var code bytes.Buffer
	for _, name := range names {
		var b []byte
		if b, err = site.File(ctx, name); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		code.Write(b)
	}
	style, err := site.File(ctx, "style.css")
	if err != nil {
		return nil, err
	}
	page = scripts.ReplaceAllLiteral(page, nil)
	page = styles.ReplaceAllLiteral(page, inside("style", style))
	page = bytes.Replace(
		page,
		[]byte("script-src 'self'; style-src 'self'"),
		fmt.Appendf(nil, "script-src '%s'; style-src '%s'", sum(code.Bytes()), sum(style)),
		1,
	)
	return bytes.Replace(
		page,
		[]byte("</body>"),
		append(inside("script", code.Bytes()), "\n</body>"...),
		1,
	), nil
}

func inside(tag string, content []byte) []byte {
	return fmt.Appendf(nil, "<%s>%s</%s>", tag, content, tag)
}

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return "sha256-" + base64.StdEncoding.EncodeToString(h[:])
}
