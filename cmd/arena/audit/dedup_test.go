package audit

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/guard/minhash"
)

// cancelledAfter is cancelled once it was asked so often.
type cancelledAfter struct {
	context.Context //nolint:containedctx // it is a context itself
	asked, most     int
}

func (c *cancelledAfter) Err() error {
	c.asked++
	if c.asked > c.most {
		return context.Canceled
	}
	return nil
}

func TestCancelledDedupWritesNothing(t *testing.T) {
	t.Parallel()
	const row = `{"text":"a red mug under twenty dollars"}`
	var out bytes.Buffer
	s := &cli.Streams{In: strings.NewReader(row), Out: &out, Err: &out}
	f := dedupFlags{profile: "auto", threshold: 0.8, cap: 10, workers: 1, quiet: true}
	ctx := &cancelledAfter{Context: t.Context(), most: 1} // the row itself is read
	if err := f.cluster(ctx, s, &out, []string{"-"}, &minhash.Index{}); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("a cancelled run wrote %q, %v", &out, err)
	}
}
