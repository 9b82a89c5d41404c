package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// copyKind says whether a record is a copy of another one with its trace ID.
type copyKind uint8

const (
	// original is a record that counts, duplicate one with the same content as the one that counts,
	// and collision one with another content.
	original copyKind = iota
	duplicate
	collision
)

// grouper runs the group step, which decides on every record whether it is kept, and selects the
// training rows. It works in rounds (shuffle.Job). The records of each round are in partitions by
// what is compared: the trace ID, the agent, the problem or the input. Each worker has one partition
// in memory. The fields, except session and job, are what all workers of a later round need to know.
type grouper struct {
	session *session
	job     *shuffle.Job
	// copies says, by input and entry, which records are copies of an attempt that is read elsewhere
	// too. A list may be too short: what it lacks is original.
	copies [][]copyKind
	// index has the replies, dialogues and items that several attempts share.
	index habits.Index
	// agents are the habits of the agents over all their attempts, by the agent's identity.
	agents  habitsByAgent
	flags   []frames.Flag
	weights weights
}

type habitsByAgent = map[string]*habits.Agent

// The streams of records that the rounds write.
const (
	// idStream has the trace IDs, by ID. traitStream has the replies and dialogues, by their hash.
	// sampleStream has what the filter recorded of each attempt, by agent. gradeStream has the judge's
	// grades, by run.
	idStream = iota
	traitStream
	sampleStream
	gradeStream
	// keyStream has the passages on which grades rest, by the keys by which they are compared, and
	// markStream the attempts whose passages others have, by agent.
	keyStream
	markStream
	// copyStream has the records that are copies, and sharedStream the replies and dialogues that
	// several attempts share.
	copyStream
	sharedStream
	// oddsStream has the filter's evidence on who made the calls of each attempt, by input. It is from
	// all attempts of the agent. agentStream, flagStream and runStream have the habits of the agents,
	// the similarity of their passages, and the sums of the grades of the runs.
	oddsStream
	agentStream
	flagStream
	runStream
	// habitStream has hashes of the habits of the agents of each input.
	habitStream
	// decisionStream has the decision on each record before the ranking, by input. candidateStream has
	// the attempts that may become rows, by problem. fileStream has the number of records of each
	// trace file, by input. countStream and tallyStream have other counts.
	decisionStream
	candidateStream
	fileStream
	countStream
	tallyStream
	// rankStream has the decisions of the ranking, by input, and selectionStream the rows of each
	// problem, by problem.
	rankStream
	selectionStream
	// lineStream has the lines of the plan's file, by input, and funnelStream how many records each
	// stage dropped.
	lineStream
	funnelStream
)

func (s *session) newGrouper(job *shuffle.Job) *grouper {
	return &grouper{
		session: s,
		job:     job,
		copies:  make([][]copyKind, len(s.inputs)),
		index:   habits.NewIndex(),
		agents:  habitsByAgent{},
		weights: weights{isRecorded: s.Config.Recorded, config: s.Config.Multiplier},
	}
}

// run runs all rounds of the group step. Each of them reads what earlier ones wrote.
func (g *grouper) run(ctx context.Context) error {
	type work = func(ctx context.Context, part int, out *shuffle.Store) error
	for _, round := range []struct {
		name string
		work work
		// load reads what all workers of later rounds need.
		load func() error
	}{
		{"read", g.readBlocks, nil},
		{"copies", g.findCopies, g.loadCopies},
		{"shared", g.findShared, g.loadShared},
		{"passages", g.comparePassages, nil},
		{"habits", g.addHabits, g.loadHabits},
		{"runs", g.sumGrades, g.loadRuns},
		{"decisions", g.decide, nil},
		{"ranks", g.rankProblems, nil},
		{"lines", g.makeLines, nil},
	} {
		err := g.job.Round(ctx, round.name, round.work)
		if err == nil && round.load != nil {
			err = round.load()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// records calls visit until all records of a partition of a stream are read.
func (g *grouper) records(stream, part int, visit func(u *habits.Unpacker)) error {
	b, err := g.job.Records(stream, part)
	if err != nil {
		return err
	}
	u := habits.NewUnpacker(b)
	for u.More() {
		visit(u)
	}
	return u.Err()
}

// all calls visit until all records of a stream are read.
func (g *grouper) all(stream int, visit func(u *habits.Unpacker)) error {
	for part := range shuffle.Partitions {
		if err := g.records(stream, part, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachEntryIn calls visit for every entry of the inputs in a partition, as session.eachEntry does.
func (g *grouper) eachEntryIn(ctx context.Context, part int, parts block.Part, visit func(pos ref, x *block.Entry) error) error {
	first, end := shuffle.Range(part, len(g.session.inputs))
	for i := first; i < end; i++ {
		if err := g.session.eachEntryOf(ctx, i, parts, visit); err != nil {
			return err
		}
	}
	return nil
}

// byInput returns the partition of an input.
func (g *grouper) byInput(pos ref) int { return shuffle.RangeOf(pos.Input, len(g.session.inputs)) }

// readBlocks reads the stored results of the inputs in a partition, and writes what is compared
// between attempts.
func (g *grouper) readBlocks(ctx context.Context, part int, out *shuffle.Store) error {
	var packed []byte
	return g.eachEntryIn(ctx, part, block.PartSample, func(pos ref, x *block.Entry) error {
		if x.Fault != nil {
			return nil
		}
		g.addID(pos, x, x.TraceID, out)
		if g.session.Config.Recorded { // equal records are copies whatever their files name them
			g.addID(pos, x, "record "+x.RecordSHA256, out)
		}
		if g.session.Config.Recorded { // nothing is measured
			return nil
		}
		for _, t := range x.Sample.Traits(x.Agent) {
			out.Add(traitStream, int(t.Hash()%shuffle.Partitions), func(b []byte) []byte { //nolint:gosec // less than Partitions
				return t.Append(appendPosition(b, pos))
			})
		}
		packed = x.Sample.Append(packed[:0])
		passage := x.DecidingPassage()
		if !x.HasDialogue {
			passage.Text = ""
		}
		out.Add(sampleStream, shuffle.PartitionOf(x.Agent), func(b []byte) []byte {
			return habits.AppendText(appendPassage(appendPosition(b, pos), &passage), packed)
		})
		g.addKeys(pos, &passage, out)
		g.addGrade(pos, x, out)
		return nil
	})
}

// addKeys writes a passage by the keys by which it is compared with those of all agents.
func (g *grouper) addKeys(pos ref, p *frames.Passage, out *shuffle.Store) {
	named := *p
	named.Text = digest.SHA256([]byte(p.Text)) // only compared
	for _, key := range p.Keys() {
		out.Add(keyStream, shuffle.PartitionOf(key), func(b []byte) []byte {
			return habits.AppendText(appendPassage(appendPosition(b, pos), &named), key)
		})
	}
}

// comparePassages finds the passages that other agents have too, or a wording of them. Copies of
// attempts do not count.
func (g *grouper) comparePassages(_ context.Context, part int, out *shuffle.Store) error {
	type use struct {
		refs     []ref
		passages []frames.Passage
	}
	uses := map[string]*use{}
	err := g.records(keyStream, part, func(u *habits.Unpacker) {
		pos := unpackPosition(u)
		p := unpackPassage(u)
		key := u.Text()
		if g.copyOf(pos) != original {
			return
		}
		if uses[key] == nil {
			uses[key] = &use{}
		}
		uses[key].refs = append(uses[key].refs, pos)
		uses[key].passages = append(uses[key].passages, p)
	})
	for _, key := range slicesx.SortedKeys(uses) {
		u := uses[key]
		for i, m := range frames.Compare(key, u.passages) {
			if m == (frames.Marks{}) {
				continue
			}
			out.Add(markStream, shuffle.PartitionOf(u.passages[i].Agent), func(b []byte) []byte {
				return habits.AppendFlag(habits.AppendFlag(appendPosition(b, u.refs[i]), m.IsShared), m.IsCopied)
			})
		}
	}
	return err
}

// addID writes an ID of an attempt. Attempts with one ID are compared.
func (g *grouper) addID(pos ref, x *block.Entry, id string, out *shuffle.Store) {
	out.Add(idStream, shuffle.PartitionOf(id), func(b []byte) []byte {
		b = habits.AppendText(appendPosition(b, pos), id)
		b = habits.AppendText(b, x.RecordSHA256)
		return habits.AppendText(b, x.Agent)
	})
}

// addGrade writes the judge's grade of an attempt, if rewards depend on those of its run.
func (g *grouper) addGrade(pos ref, x *block.Entry, out *shuffle.Store) {
	if !g.weights.config.NeedsRuns() || !x.HasDialogue || !isGradable(x.Judgement.Outcome) {
		return
	}
	out.Add(gradeStream, shuffle.PartitionOf(x.RunID), func(b []byte) []byte {
		b = habits.AppendText(appendPosition(b, pos), x.RunID)
		if x.Score == nil {
			return habits.AppendFlag(b, false)
		}
		return habits.AppendFloat(habits.AppendFlag(b, true), *x.Score)
	})
}

func appendPosition(b []byte, pos ref) []byte {
	return appendInts(b, pos.Input, pos.Entry)
}

// appendPassage appends a passage, without its day.
func appendPassage(b []byte, p *frames.Passage) []byte {
	for _, text := range [...]string{p.Agent, p.Problem, p.Request, p.Text} {
		b = habits.AppendText(b, text)
	}
	return b
}

func unpackPassage(u *habits.Unpacker) frames.Passage {
	return frames.Passage{Agent: u.Text(), Problem: u.Text(), Request: u.Text(), Text: u.Text()}
}

func unpackPosition(u *habits.Unpacker) ref { return ref{Input: u.Int(), Entry: u.Int()} }

// identified is an attempt as the search for copies reads it.
type identified struct {
	ref
	id, record, agent string
}

// precedes reports whether x, and not y, counts if both have the same ID.
func (x *identified) precedes(y *identified) bool {
	return cmp.Or(
		filters.CompareCopies(
			[]byte(x.record),
			x.agent,
			[]byte(y.record),
			y.agent,
		),
		cmp.Compare(x.Input, y.Input),
		cmp.Compare(x.Entry, y.Entry),
	) < 0
}

// findCopies finds attempts with the same trace ID, such as those of a file that was uploaded
// twice. The first counts, in the order of filters.CompareCopies.
func (g *grouper) findCopies(_ context.Context, part int, out *shuffle.Store) error {
	var all []identified
	first := map[string]int{} // index in all
	err := g.records(idStream, part, func(u *habits.Unpacker) {
		x := identified{ref: unpackPosition(u), id: u.Text(), record: u.Text(), agent: u.Text()}
		if k, ok := first[x.id]; !ok || x.precedes(&all[k]) {
			first[x.id] = len(all)
		}
		all = append(all, x)
	})
	for k := range all {
		x := &all[k]
		counted := &all[first[x.id]]
		if counted == x {
			continue
		}
		kind := collision
		if counted.record == x.record {
			kind = duplicate
		}
		out.Add(copyStream, part, func(b []byte) []byte {
			return appendInts(appendPosition(b, x.ref), int(kind))
		})
	}
	return err
}

func (g *grouper) loadCopies() error {
	return g.all(copyStream, func(u *habits.Unpacker) {
		pos := unpackPosition(u)
		list := &g.copies[pos.Input]
		*list = extended(*list, pos.Entry)
		kind := copyKind(u.Int()) //nolint:gosec // packed above
		if (*list)[pos.Entry] != duplicate {
			(*list)[pos.Entry] = kind
		}
	})
}

// extended returns list with at least the element at index i.
func extended[T any](list []T, i int) []T {
	if n := i + 1 - len(list); n > 0 {
		list = append(list, make([]T, n)...)
	}
	return list
}

// copyOf returns whether the record at pos is a copy.
func (g *grouper) copyOf(pos ref) copyKind {
	list := g.copies[pos.Input]
	if pos.Entry >= len(list) {
		return original
	}
	return list[pos.Entry]
}

// findShared finds the replies, dialogues and items in a partition that several attempts share.
func (g *grouper) findShared(_ context.Context, part int, out *shuffle.Store) error {
	var err error
	shared := habits.SharedOf(func(yield func(t habits.Trait, counts bool) bool) {
		err = g.records(traitStream, part, func(u *habits.Unpacker) {
			pos := unpackPosition(u)
			yield(u.Trait(), g.copyOf(pos) == original)
		})
	})
	out.Add(sharedStream, part, shared.Append)
	return err
}

func (g *grouper) loadShared() error {
	return g.all(sharedStream, func(u *habits.Unpacker) {
		u.Index(g.index)
	})
}

// sampled is what the group step reads of an attempt to find the habits of its agent.
type sampled struct {
	ref
	packed []byte
}

// samples returns an iterator over samples, each of which is valid until the next one.
func samples(list []sampled) iter.Seq[*habits.Sample] {
	return func(yield func(*habits.Sample) bool) {
		x := &habits.Sample{}
		for i := range list {
			habits.NewUnpacker(list[i].packed).Sample(x)
			if !yield(x) {
				return
			}
		}
	}
}

// addHabits writes the habits of the agents in one partition (what is typical of an agent over all its
// attempts), which agents have cited passages (the texts on which the judge's grades rest) that
// follow one template, and the odds of their attempts: the evidence on whether a model made the
// calls. Copies of attempts do not count; an agent that has only copies has habits without samples.
func (g *grouper) addHabits(_ context.Context, part int, out *shuffle.Store) error {
	var passages []frames.Passage
	marks := map[ref]frames.Marks{}
	err := g.records(markStream, part, func(u *habits.Unpacker) {
		pos := unpackPosition(u)
		marks[pos] = marks[pos].Or(frames.Marks{IsShared: u.Flag(), IsCopied: u.Flag()})
	})
	if err != nil {
		return err
	}
	all := map[string][]sampled{}
	counted := map[string][]sampled{}
	err = g.records(sampleStream, part, func(u *habits.Unpacker) {
		pos := unpackPosition(u)
		p := unpackPassage(u)
		p.Marks = marks[pos]
		x := sampled{pos, u.Packed()}
		all[p.Agent] = append(all[p.Agent], x)
		if g.copyOf(pos) != original {
			return
		}
		counted[p.Agent] = append(counted[p.Agent], x)
		passages = append(passages, p)
	})
	for _, name := range slicesx.SortedKeys(all) {
		agent := g.session.filter.Agent(name, samples(counted[name]), g.index)
		g.addAgent(part, name, agent, all[name], out)
	}
	for _, f := range frames.Flags(passages) {
		out.Add(flagStream, part, func(b []byte) []byte {
			return habits.AppendText(b, asjson.Bytes(f))
		})
	}
	return err
}

// addAgent writes the habits of an agent, and the odds of its attempts, which are list.
func (g *grouper) addAgent(part int, name string, agent *habits.Agent, list []sampled, out *shuffle.Store) {
	packed := asjson.Bytes(agent)
	digest := finish.Digest([]byte(name), packed)
	out.Add(agentStream, part, func(b []byte) []byte {
		return habits.AppendText(habits.AppendText(b, name), packed)
	})
	hashed := map[int]bool{} // inputs
	i := 0
	for s := range samples(list) {
		pos := list[i].ref
		if !hashed[pos.Input] {
			hashed[pos.Input] = true
			out.Add(habitStream, g.byInput(pos), func(b []byte) []byte {
				return habits.AppendText(appendInts(b, pos.Input), digest)
			})
		}
		out.Add(oddsStream, g.byInput(pos), func(b []byte) []byte {
			return agent.Odds(s).Append(appendPosition(b, pos))
		})
		i++
	}
}

// sumGrades sums the judge's grades of each run in a partition, in the order of the inputs. Each
// attempt with a dialogue counts once, even if it is dropped.
func (g *grouper) sumGrades(_ context.Context, part int, out *shuffle.Store) error {
	type grade struct {
		ref
		run   string
		score *float64
	}
	var grades []grade
	err := g.records(gradeStream, part, func(u *habits.Unpacker) {
		x := grade{ref: unpackPosition(u), run: u.Text()}
		if u.Flag() {
			x.score = new(u.Float())
		}
		if g.copyOf(x.ref) == original {
			grades = append(grades, x)
		}
	})
	slicesx.SortFunc(grades, func(a, b grade) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Entry, b.Entry))
	})
	runs := map[string]multiplier.Quality{}
	for _, x := range grades {
		runs[x.run] = runs[x.run].Add(x.score)
	}
	for _, name := range slicesx.SortedKeys(runs) {
		q := runs[name]
		out.Add(runStream, part, func(b []byte) []byte {
			b = appendInts(habits.AppendText(b, name), q.Judged, q.Scored)
			return habits.AppendFloat(b, q.Sum)
		})
	}
	return err
}

// loadHabits reads the habits of all agents, and which of them are flagged for their thinking.
func (g *grouper) loadHabits() error {
	var damaged error
	err := g.all(agentStream, func(u *habits.Unpacker) {
		name := u.Text()
		agent := &habits.Agent{}
		damaged = cmp.Or(json.Unmarshal(u.Packed(), agent), damaged)
		g.agents[name] = agent
	})
	if err = cmp.Or(err, damaged); err != nil {
		return err
	}
	err = g.all(flagStream, func(u *habits.Unpacker) {
		var f frames.Flag
		damaged = cmp.Or(json.Unmarshal(u.Packed(), &f), damaged)
		g.flags = append(g.flags, f)
	})
	slicesx.SortFunc(g.flags, func(a, b frames.Flag) int { return cmp.Compare(a.Agent, b.Agent) })
	g.weights.framed = framedAgents(g.flags)
	return cmp.Or(err, damaged)
}

// loadRuns reads the sums of the judge's grades of all runs, if factors depend on them.
func (g *grouper) loadRuns() error {
	w := &g.weights
	if !w.config.NeedsRuns() {
		return nil
	}
	w.runs = map[string]multiplier.Quality{}
	return g.all(runStream, func(u *habits.Unpacker) {
		w.runs[u.Text()] = multiplier.Quality{Judged: u.Int(), Scored: u.Int(), Sum: u.Float()}
	})
}

// isGradable reports whether an attempt with this outcome of its judgement can have a grade at all.
// It cannot if the judge was not measured on its kind of task, or if it is not known that a model wrote
// its thinking.
// Only attempts that can have a grade count in the figures of their run: the mean grade, and the
// share of attempts that have one.
func isGradable(o arena.JudgeOutcome) bool {
	return o != arena.JudgeUnsaid && o != arena.JudgeUndecided && o != arena.JudgeNotMeasured
}

// maxSamples is the maximum size in bytes of the records that one round of the group step keeps in
// memory. It suffices for some 20,000 attempts.
const maxSamples = 16 << 20

// group runs the group step, which decides on every record, and stores the result, the plan. It
// removes the data files that were written for earlier plans, and the pieces of blocks that were not
// finished.
func (s *session) group(ctx context.Context, pieces int) (*plan, error) {
	return s.groupWithin(ctx, pieces, maxSamples)
}

// groupWithin runs the group step like group. At most limit bytes of the records of a round are in
// memory. If there are several pieces, other processes may run the step at once, and share the work.
func (s *session) groupWithin(ctx context.Context, pieces, limit int) (*plan, error) {
	key, err := s.planKey()
	if err != nil {
		return nil, err
	}
	job := &shuffle.Job{
		FS:      s.FS,
		Area:    s.staging,
		Dir:     filepath.Join(s.Work, groupFolder, groupKey(key, pieces)),
		Pieces:  pieces,
		Workers: s.Config.Workers,
		Limit:   limit,
		IsDone:  func() bool { return s.hasPlan(key) },
	}
	if pieces == 1 || !job.IsDone() {
		err = s.runGroup(ctx, job, key)
	}
	isDone := pieces > 1 && job.IsDone()
	if isDone { // another process may have removed what this one needed
		err = s.FS.RemoveAll(job.Dir)
		if errors.Is(err, fs.ErrExist) {
			err = nil // a process that has just added a file finds the plan, and then removes the folder
		}
	}
	if err == nil {
		s.plan, err = s.readPlan()
	}
	if err == nil && isDone { // a process may have been killed before it removed it
		err = s.removeUnneeded(s.plan)
	}
	if errors.Is(err, shuffle.ErrDamaged) { // the next run makes it again
		err = errors.Join(err, s.FS.RemoveAll(job.Dir), s.removePlan(key))
	}
	return s.plan, err
}

// runGroup runs the rounds of the group step and stores the plan.
func (s *session) runGroup(ctx context.Context, job *shuffle.Job, key string) error {
	g := s.newGrouper(job)
	err := g.run(ctx)
	if err == nil {
		err = job.Finish(ctx, func() error {
			return g.finish(ctx, key)
		})
	}
	return errors.Join(err, job.Close())
}
