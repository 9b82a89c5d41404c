package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/records"
)

// eachEntry calls visit for every entry (the stored result of one record) of all inputs in order. Only
// the given parts of an entry are read. Without block.PartFound, the fields that depend on this run
// are not set: Problem and Leak.
func (s *session) eachEntry(ctx context.Context, parts block.Part, visit records.Visit) error {
	for i := range s.inputs {
		if err := s.eachEntryOf(ctx, i, parts, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachEntryOf calls visit for every entry of the input at index i, as eachEntry does.
func (s *session) eachEntryOf(ctx context.Context, i int, parts block.Part, visit records.Visit) error {
	r := &blockReader{}
	isComplete := parts&block.PartFound != 0
	var err error
	if isComplete {
		r, err = s.openBlock(i)
	} else {
		r.Reader, err = block.Open(s.FS, s.inputs[i].dir)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	n := 0
	for x, err := range r.All(parts) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if isComplete {
			r.complete(x, n)
		}
		if err := visit(records.Position{Input: i, Entry: n, Place: x.Place}, x); err != nil {
			return err
		}
		n++
	}
	return nil
}

// checkBlocks returns an error unless every input has a block (its results, stored by the map step)
// that this run can use. A block that lacks only some answers of a judge is usable. The error is
// that of the first unusable input, for any number of workers.
func (s *session) checkBlocks(ctx context.Context) error {
	check := func(_ context.Context, in input) (any, error) {
		status, err := s.blockState(in)
		if err != nil {
			return nil, err
		}
		if status != block.Equal && status != block.Unfinished {
			return nil, fmt.Errorf("read block of %s: %s: run the map step on all shards first", in.title(), status)
		}
		return nil, nil
	}
	return inorder.List(ctx, s.Config.Workers, s.inputs, check, func(any) error {
		return nil
	})
}

// updateBlock writes the stored results (the block) of an input again, with several workers. If
// status is Unguarded, because only the protected problems changed, it repeats just the comparison
// with these, unless the block turns out to be damaged.
func (s *session) updateBlock(ctx context.Context, in input, status block.Status, workers int) error {
	if status == block.Unguarded {
		err := s.guardAgain(ctx, in)
		if !errors.Is(err, block.ErrDamaged) {
			return err
		}
	}
	return s.makeBlock(ctx, in, workers)
}

func (s *session) makeBlock(ctx context.Context, in input, workers int) error {
	if err := s.verifyHashes(ctx, in.files); err != nil {
		return err
	}
	staged := filepath.Join(s.staging.Dir, in.key.Folder())
	w, err := block.Create(s.FS, staged, in.key)
	if err != nil {
		return err
	}
	c := s.newCollector(in, w)
	if err := c.read(ctx, workers); err != nil {
		w.Abort()
		return err
	}
	w.Sources = c.lookups.sources(s)
	if err := w.Close(); err != nil {
		return err
	}
	isGood := func() (bool, error) {
		status, err := block.State(s.FS, in.dir, in.key)
		if err != nil || status != block.Equal {
			return false, err
		}
		return s.hasSameSources(in)
	}
	if err := s.staging.Install(ctx, staged, in.dir, isGood); err != nil {
		return err
	}
	return s.installFindings(ctx, in, &c.findings)
}

// collector writes the results for the records of one input to a block. During a long input it also
// stores what is finished (segments), so that a later run can continue there if this one is killed.
type collector struct {
	session *session
	input   input
	w       *block.Writer
	lookups *lookups
	// entries is the number of records so far, findings what the guard found in their attempts.
	entries  int
	findings block.Findings
	// segment is what a segment stores besides the bytes of the block, of the records since the last
	// one. segments is the number of segments, problems that of the problems in them.
	segment  block.Segment
	segments int
	problems int
	// bytes is the size of the attempts since the last segment.
	bytes int64
}

// segmentBytes is the size in bytes of the attempts whose results form one segment, which is what a
// killed run loses of a long input for each worker.
const segmentBytes = 64 << 20

func (s *session) newCollector(in input, w *block.Writer) *collector {
	return &collector{
		session: s,
		input:   in,
		w:       w,
		lookups: newLookups(),
	}
}

// read processes the records of the input, except those that an earlier run has processed, on several
// workers at once.
func (c *collector) read(ctx context.Context, workers int) error {
	if err := c.resume(); err != nil {
		return err
	}
	m := c.session.newMapper()
	m.skip = c.entries
	take := func(r *mapped) error {
		return c.add(ctx, r)
	}
	for i := range c.input.files {
		if err := m.readFile(ctx, c.input.files[i], i, workers, take); err != nil {
			return err
		}
	}
	return nil
}

// add writes the result for the next record.
func (c *collector) add(ctx context.Context, r *mapped) error {
	x := r.entry
	if x.Fault == nil {
		x.Problem = c.lookups.add(r)
		c.findings.Add(c.entries, x.Leak)
		c.segment.Findings.Add(c.entries, x.Leak)
		c.segment.Items = append(c.segment.Items, r.items...)
	}
	c.entries++
	c.segment.Entries++
	if err := c.w.Add(x, r.draft); err != nil {
		return err
	}
	c.bytes += x.Bytes
	isDue := c.bytes >= cmp.Or(c.session.segmentBytes, segmentBytes)
	if !isDue || c.w.HasUnscored() { // the next run asks the judge again
		return nil
	}
	return c.store(ctx)
}

// store stores the results since the last segment as a segment.
func (c *collector) store(ctx context.Context) error {
	s := c.session
	x := &c.segment
	if err := c.w.Cut(x); err != nil {
		return err
	}
	x.Run = c.run()
	x.Problems = c.lookups.references[c.problems:]
	slices.Sort(x.Items)
	x.Items = slices.Compact(x.Items)
	staged := filepath.Join(s.staging.Dir, c.input.key.Folder()+".segment")
	if err := block.WriteSegment(s.FS, staged, x); err != nil {
		return err
	}
	err := s.staging.Install(ctx, staged, c.next(), func() (bool, error) {
		return false, nil
	})
	c.reset()
	return err
}

// reset empties what is collected for a segment, since the segment is stored.
func (c *collector) reset() {
	c.segments++
	c.segment = block.Segment{}
	c.problems = len(c.lookups.references)
	c.bytes = 0
}

// next returns the path of the next segment.
func (c *collector) next() string {
	return filepath.Join(c.session.Work, segmentsFolder, c.input.key.Folder(), strconv.Itoa(c.segments))
}

// run returns the hash of everything that the results depend on.
func (c *collector) run() string {
	return finish.Digest(c.session.digest, c.input.key.Input, c.input.key.Meta)
}

// resume adds the segments that an earlier run stored of the input, up to the first that is missing or
// damaged or depends on something else than this run.
func (c *collector) resume() error {
	for {
		x, err := block.ReadSegment(c.session.FS, c.next(), c.run())
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, block.ErrDamaged) {
			return nil
		}
		if err != nil {
			return err
		}
		if follows, err := c.w.Continue(x); !follows {
			return err
		}
		for _, reference := range x.Problems {
			c.lookups.add(&mapped{reference: reference})
		}
		for _, id := range x.Items {
			c.lookups.items[id] = true
		}
		c.entries += x.Entries
		c.findings.Entries = append(c.findings.Entries, x.Findings.Entries...)
		c.findings.Values = append(c.findings.Values, x.Findings.Values...)
		c.reset()
	}
}
