package cli

import (
	"errors"
	"syscall"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/token"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/public"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/comparison"
	"github.com/trajectory-arena/arena/traces"
)

// BankForms is the hint for a bank of problems that cannot be read.
const BankForms = "a bank is a problems file or suite, rows with text, query, problem or messages, a corpus folder or its bank.json, or a folder of banks"

// known lists errors of other packages that have the same exit code and hint in all commands.
// The first entry that an error wraps is used.
var known = []struct {
	err  error
	code int
	hint string
}{
	{llm.ErrAuth, ExitFailure, "set the key in OPENAI_API_KEY, or name its variable with --api-key-env; what was answered is kept in the ledger"},
	{llm.ErrBudget, ExitLimit, "what was paid for is kept: run the same command again to go on from there"},
	{llm.ErrDeadline, ExitLimit, "what was paid for is kept: run the same command again to go on from there"},
	{finish.ErrNotProtected, ExitUsage, "give the file with --held-out, or the bank.json of the corpus with --held-out or --bank: what was held out once stays held out"},
	{guard.ErrBank, ExitFailure, BankForms},
	{guard.ErrRecall, ExitFailure, "leave the requests that were missed out of --held-out: a request of one or two words cannot be protected against rewording (docs/leak.md)"},
	{guard.ErrFewClusters, ExitFailure, "add tasks or days; two tasks are enough with --set guard.shares.never_touch=0, and one with --held-out FILE and --set guard.shares.eval=0 too"},
	{pipeline.ErrUnscored, ExitLimit, "run the same command again to ask only for the missing ones, or raise --set max_unscored"},
	{traces.ErrUnreadable, ExitLimit, "fetch the files again that ended early; `arena filter DAY -o -` says of each other record why it was not read; or raise --max-unreadable to take what there is"},
	{pipeline.ErrTerms, ExitUsage, "bring back what was planned, or plan again: `arena build … --plan PLAN`"},
	{pipeline.ErrNetworks, ExitUsage, "build one corpus for each network, or give --any-network"},
	{pipeline.ErrCorpus, ExitUsage, "`arena mix` joins corpora, `arena export` writes one for a trainer, `arena recipe` makes the data of a training stage"},
	{guard.ErrEmptyBank, ExitFailure, "give --held-out FILE, or a share above 0 to guard.shares.eval or guard.shares.never_touch"},
	{pipeline.ErrNoAttempt, ExitFailure, "`arena list formats` lists what is read, in JSON, Parquet or Arrow, and no tables of text such as CSV; unpack xz, bzip2 and archives first; if the file was cut, fetch it again"},
	{pipeline.ErrNoProblems, ExitUsage, "give --problems FILE, or put problems.jsonl into the day's folder; `arena import` takes attempts without grading them"},
	{pipeline.ErrNoCatalog, ExitUsage, "give --catalog FILE, or put catalog.jsonl into the day's folder"},
	{choose.ErrEmpty, ExitFailure, "the counts above say where rows were lost; docs/reasons.md says what each word means, and what helps"},
	{pipeline.ErrOtherDay, ExitFailure, "give another -o, or --force to replace it; a corpus of both days: name both"},
	{pipeline.ErrNotWork, ExitUsage, "give --work an empty folder, or one that arena worked in before"},
	{pipeline.ErrOtherKind, ExitFailure, "give another -o, or --force to replace it"},
	{corpus.ErrNotCorpus, ExitFailure, "give -o a new folder, an empty one, or that of a corpus to replace"},
	{corpus.ErrUnlisted, ExitFailure, "move it out of the folder, or give another -o"},
	{corpus.ErrBusy, ExitFailure, "wait for it, or give another -o or --work"},
	{token.ErrSlow, ExitFailure, "give the tokenizer.json that the model's publisher distributes"},
	{corpus.ErrDamaged, ExitFailure, "a file of the corpus is damaged or missing: `arena verify` lists all that is broken; build or copy it again"},
	{finish.ErrBroken, ExitFailure, "`arena verify` lists all that is broken; build or copy it again"},
	{pipeline.ErrInput, ExitFailure, "check the file: it must be there, readable and of the kind that the flag names; docs/traces.md says which traces are read (--help lists the flags)"},
	{public.ErrFormats, ExitUsage, "publish the corpus that it was made from, and export the public one"},
	{public.ErrExposed, ExitLimit, "nothing was published"},
	{student.ErrChanged, ExitUsage, "take another folder with -o, or the inputs that this one was begun with"},
	{student.ErrForeign, ExitFailure, "give -o a new folder, an empty one, or that of a run to go on with"},
	{student.ErrPool, ExitUsage, "pool runs of one setting: evaluate with --seed so that no two of them send the same seed"},
	{student.ErrUnfinished, ExitFailure, "the command that began the run goes on with it"},
	{comparison.ErrCoverage, ExitLimit, "finish the run with the same `arena eval` and --retry-infra, or lower --min-coverage"},
	{comparison.ErrIncomparable, ExitUsage, "evaluate both in the same setting, or say --anyway"},
	{syscall.ENOTDIR, ExitFailure, "a file lies where a folder is wanted: give another path"},
}

// withHint returns err with the exit code and hint of the known error that it wraps. It returns
// err unchanged if err already has a hint or wraps no known error.
func withHint(err error) error {
	if _, ok := errors.AsType[*Failure](err); ok {
		return err
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return &Failure{err, k.hint, k.code}
		}
	}
	return err
}

// DefaultHint adds a hint to an error that has none and wraps no known error. It returns nil if
// err is nil.
func DefaultHint(err error, hint string) error {
	err = withHint(err)
	if _, ok := errors.AsType[*Failure](err); ok || err == nil {
		return err
	}
	return Failed(err, hint)
}
