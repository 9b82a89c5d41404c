package evaluate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/gym"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/student/rollout"
)

type envFlags struct {
	shop             catalogFlags
	pay              rewardFlags
	guard            protectFlags
	limits           environment.Limits
	problems, record string
	harness, search  string
	failures         gym.FailureStyle
	door             cli.Door
	maxSteps         int
	mcp, mcpKey      string
	system           string
}

func newEnvServe(s *cli.Streams) *cobra.Command {
	f := &envFlags{
		limits:   environment.DefaultLimits(),
		harness:  shop.Profiles()[0],
		failures: gym.Masked,
	}
	c := cli.Command("serve --problems F --catalog F --corpus C", "Serve episodes to a trainer", cli.NumArgs(0, 0),
		func(c *cobra.Command, _ []string) error {
			if f.pay.domain+f.mcp+f.mcpKey+f.system != "" {
				return f.runDomain(c, s)
			}
			return f.run(c.Context(), s)
		})
	f.add(c)
	return c
}

func (f *envFlags) add(c *cobra.Command) {
	f.shop.add(c)
	f.pay.add(c)
	f.guard.add(c)
	fl := c.Flags()
	cli.File(c, &f.problems, "problems", "problems: JSON lines, or one JSON array")
	cli.Choice(
		c,
		&f.harness,
		"harness",
		shop.Profiles(),
		"system prompt and tools: "+strings.Join(shop.Profiles(), ", "),
	)
	fl.StringVar(&f.search, "search", "", "URL of a real search server to use instead of the catalogue's own search")
	fl.StringVar(&f.record, "record", "", "folder in which every finished episode is kept as a trace that build reads")
	f.door.Add(c, "127.0.0.1:8090", "ARENA_ENV_TOKEN")
	cli.Choice(
		c,
		&f.failures,
		"failures",
		[]gym.FailureStyle{gym.Masked, gym.Status},
		"how a failure of the environment is reported: masked, a sample of status 200, or status, a 503; a request's header "+gym.StyleHeader+" goes before",
	)
	fl.IntVar(&f.maxSteps, "max-steps", 25, "maximum number of replies in an episode that count")
	fl.IntVar(&f.limits.Calls, "max-calls", f.limits.Calls, "maximum number of calls in one episode")
	fl.IntVar(&f.limits.Episodes, "episodes", f.limits.Episodes, "maximum number of episodes in progress")
	fl.DurationVar(&f.limits.Age, "episode-timeout", f.limits.Age, "maximum time of one episode; longer ones are masked")
	fl.DurationVar(&f.limits.Idle, "idle-timeout", f.limits.Idle, "time without a request after which an episode may be closed to make room")
	cli.Writes(c, "record")
	f.addDomain(c)
}

// spare is the size in bytes of an allocation that is never used, so that it takes no memory. The
// garbage collector runs when the heap has doubled. The allocation makes the heap look larger, so
// that collections are seconds apart and requests seldom wait for one.
const spare = 256 << 20

func (f *envFlags) run(ctx context.Context, s *cli.Streams) (err error) {
	defer runtime.KeepAlive(make([]byte, spare))
	token, err := f.door.Token()
	if err != nil {
		return err
	}
	problems, err := readProblems(f.problems)
	if err != nil {
		return err
	}
	e, err := f.newEnvironment(problems)
	if err != nil {
		return err
	}
	local, err := f.shop.open(ctx)
	if err != nil {
		return err
	}
	defer wrong.Close(&err, local.Catalog.Close)
	if err = f.fill(e, local); err != nil {
		return err
	}
	defer wrong.Close(&err, e.Record.Close)
	words := fmt.Sprintf(
		"%d problems (%d refused) over %d products",
		len(problems.All)-len(e.Refused),
		len(e.Refused),
		local.Catalog.Len(),
	) + comparedText(e)
	return f.door.Serve(ctx, s, words, gym.Handler(e, gym.Options{
		Failures: f.failures,
		Token:    token,
	}))
}

// comparedText returns the end of the server's first line: from when on reasoning is paid. It is empty
// if the reward does not depend on reasoning.
func comparedText(e *environment.Environment) string {
	if e.Rewarder.Judge == nil || e.Rewarder.Weights["judge"] == 0 {
		return ""
	}
	text := fmt.Sprintf("; reasoning is paid once it was seen at %d problems", frames.MinProblems)
	var problems []frames.Passage
	for i, p := range e.Problems.All {
		if _, ok := e.Refused[e.Problems.IDs[i]]; !ok {
			problems = append(problems, frames.Passage{Problem: e.Problems.IDs[i], Request: p.Query})
		}
	}
	if frames.CountProblems(problems) < frames.MinProblems {
		text += ", more than there are"
	}
	return text
}

// newEnvironment returns a training environment of the problems. Problems that are kept for
// evaluation, and paraphrases of them, are refused: no episode may be played at them. The caller
// adds the tools.
func (f *envFlags) newEnvironment(problems student.Problems) (e *environment.Environment, err error) {
	e = &environment.Environment{
		Problems: problems,
		Limits:   f.limits,
		Now:      time.Now,
		NewID:    rand.Text,
	}
	if e.Refused, err = f.guard.refused(problems); err != nil {
		return nil, err
	}
	if len(e.Refused) == len(problems.All) {
		return nil, cli.Usage(fmt.Errorf("all %d problems are refused: they are protected, or paraphrases of protected ones", len(problems.All)), "train on other problems")
	}
	return e, nil
}

func (f *envFlags) fill(e *environment.Environment, local shop.Local) (err error) {
	if e.Harness, err = shop.Profile(f.harness); err != nil {
		return err
	}
	if e.Rewarder, err = f.pay.payer(e.Problems.All, local.Catalog); err != nil {
		return err
	}
	e.Rewarder.Frames = &frames.Window{}
	if e.Rewarder.Teachers, err = f.guard.teachers(); err != nil {
		return err
	}
	e.Player = f.newPlayer(e.Harness, local)
	return f.openRecord(e)
}

// openRecord opens the file in which the episodes are recorded as traces, if the user named one
// with --record. A day of the shop also gets links to the problems and the catalogue, which arena
// build needs.
func (f *envFlags) openRecord(e *environment.Environment) (err error) {
	if f.record == "" {
		return nil
	}
	e.Record, err = environment.NewRecord(
		f.record,
		"env-"+strings.ToLower(rand.Text()),
		"env",
	)
	if err != nil || f.shop.Catalog == "" {
		return err
	}
	if err = linkIn(f.record, "problems.jsonl", f.problems); err != nil {
		return err
	}
	return linkIn(f.record, "catalog.jsonl", f.shop.Catalog)
}

// linkIn creates a symbolic link with this name in a folder to the file at path. A file of that name
// is kept, and so is an equal link of an earlier server. A link to another file is an error: a build
// would read the new episodes with the problems or products of the old ones.
func linkIn(folder, name, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	link := filepath.Join(folder, name)
	err = os.Symlink(path, link)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if target, _ := os.Readlink(link); target != "" && target != path {
		return cli.Usage(fmt.Errorf("%s links to %s, not to %s", link, target, path), "give --record another folder")
	}
	return nil
}

// newPlayer returns what executes the tool calls of an episode in the shop and sends the results to
// a training program. It asks no model itself, since the training program sends the replies of its
// own model.
func (f *envFlags) newPlayer(h arena.Harness, local shop.Local) *rollout.Environment {
	p := &rollout.Environment{
		Template: model.NewTemplate("env", h.System, model.Sampling{}, nil), Dialect: dialect.Native, NoCall: rollout.Continue, Form: rollout.Chat, MaxSteps: f.maxSteps,
		ToolNames: toolNames(h), Rules: local.Rules, Server: local, Request: arena.Raw(`{"model":"env"}`), Has: local.Catalog.Has,
	}
	if f.search != "" {
		p.Server = shop.NewRemote(f.search, os.Getenv(shopTokenEnv))
	}
	return p
}
