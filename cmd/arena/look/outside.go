package look

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/pipeline/public"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/report/site"
)

func (f *viewFlags) outside() error {
	switch {
	case f.public && f.out == "":
		return cli.Misuse("pages for outside need a place", "give -o a new folder, with --appeal a file")
	case !f.public && len(f.embargo)+len(f.heldOut) > 0:
		return cli.Misuse("--embargo and --held-out go with --public", "add --public, or leave them out")
	}
	return nil
}

// redacted removes from c all attempts that outsiders must not see: those at problems kept for
// evaluation, those that reveal such a problem, and those that name an agent of --embargo. It sets
// c.Hidden to their number. It sets c.Secret to a function that is called with every text before it
// is written, and returns what secret the text reveals, "" if none.
func (f *viewFlags) redacted(c *site.Corpus, dir string) error {
	closed, err := public.ReadClosed(corpus.Disk{}, dir, f.heldOut)
	if err != nil {
		return cli.Failed(err, "give --held-out the problems that the corpus was built with")
	}
	c.Secret = func(text string) string {
		for _, agent := range f.embargo {
			if strings.Contains(text, agent) {
				return "an agent under embargo"
			}
		}
		return closed.Find(text)
	}
	c.IsClosed = func(s *attempt.Story) bool { return isClosed(closed, s) }
	for _, agent := range f.embargo {
		if !slices.ContainsFunc(c.Ledger.Lines, func(l *where.Line) bool {
			return l.Attempt.AgentHotkey == agent || l.Attempt.AgentVersion == agent
		}) {
			fmt.Fprintf(f.streams.Err, "warning: no attempt is of the agent %s of --embargo\n", agent)
		}
	}
	total := len(c.Ledger.Lines)
	c.Ledger.Keep(func(i int) bool {
		line := c.Ledger.Lines[i]
		values, err := json.Marshal([]any{
			line.Values(),
			c.Ledger.Argue(i),
		})
		text := string(values)
		return err == nil && !closed.Holds(line.Attempt.Cluster) && c.Secret(text) == "" && !closed.Asks(text, []string{text})
	})
	c.Hidden = total - len(c.Ledger.Lines)
	return nil
}

// checkNoSecrets returns an error that wraps public.ErrExposed if content, the text of a page or
// file, reveals a problem that is kept for evaluation or an agent under embargo. It checks nothing
// unless the pages are for outsiders (--public).
func (f *viewFlags) checkNoSecrets(
	pages *site.Site,
	name string,
	content []byte,
) error {
	if !f.public {
		return nil
	}
	if what := pages.Corpora[0].Secret(string(content)); what != "" {
		return fmt.Errorf("%w: %s in %s", public.ErrExposed, what, name)
	}
	return nil
}

func (f *viewFlags) page(ctx context.Context, c *site.Corpus) error {
	i, known := c.Ledger.Find(f.appeal)
	if !known {
		return cli.Failed(
			fmt.Errorf("no attempt %q that may be shown", f.appeal),
			nearestOf(c.Ledger, f.appeal)+"nothing is shown of protected problems, of agents under embargo and of what the guard dropped; `arena explain` shows it at home",
		)
	}
	id := c.Ledger.Lines[i]
	c.Ledger.Keep(func(i int) bool {
		return c.Ledger.Lines[i] == id
	})
	content, err := c.Page(ctx)
	if err == nil {
		err = f.checkNoSecrets(
			&site.Site{Corpora: []*site.Corpus{c}},
			f.out,
			content,
		)
	}
	if err != nil {
		return err
	}
	return cli.WriteText(f.streams, f.out, string(content))
}
