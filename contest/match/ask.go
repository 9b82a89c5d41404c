package match

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/contest/kl"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// completion is the JSON body of a request to a model server's /completions. The fields after Stop
// exist only in vLLM's API.
type completion struct {
	Model       string   `json:"model"`
	Prompt      any      `json:"prompt"` // a text, or the ids of its tokens
	MaxTokens   int      `json:"max_tokens"`
	Temperature float64  `json:"temperature"`
	Stop        []string `json:"stop,omitempty"`
	Top         int      `json:"prompt_logprobs,omitempty"`
	IDs         bool     `json:"return_token_ids"`
	// Start is the first position of the prompt whose tokens are kept in the answer. It is not
	// sent to the server.
	Start int `json:"-"`
}

// answer is the part of a model server's reply that is recorded: the text and token ids of the
// completion, and the likeliest tokens at each position.
type answer struct {
	// Prompt and IDs are the token ids of the prompt and of the reply.
	Prompt []int  `json:"prompt,omitempty"`
	IDs    []int  `json:"ids,omitempty"`
	Text   string `json:"text,omitempty"`
	// Top has the likeliest tokens at each position from completion.Start on, the likeliest
	// first. Own has the log-probability of the prompt's own token at each of these positions.
	Top [][]kl.Token `json:"top,omitempty"`
	Own []float64    `json:"own,omitempty"`
}

// AnswersFile is the name of the file with all answers in the folder of a run.
const AnswersFile = "answers.journal"

// asker sends requests to the servers of the teacher and the students, and records the answers in a
// journal, so that no request is sent twice.
type asker struct {
	config  *Config
	journal *journal.Journal
	pools   map[string]*model.Pool
	asked   atomic.Int64

	mu      sync.Mutex
	answers map[journal.Key]journal.Entry
}

func newAsker(c *Config, dir string) (*asker, error) {
	j, entries, err := journal.Open(filepath.Join(dir, AnswersFile))
	if err != nil {
		return nil, err
	}
	a := &asker{
		config:  c,
		journal: j,
		pools:   map[string]*model.Pool{},
		answers: map[journal.Key]journal.Entry{},
	}
	for _, e := range entries {
		a.answers[e.Key] = e
	}
	for _, m := range c.models() {
		if a.pools[m.Name], err = c.pool(m); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	return a, nil
}

func (a *asker) close() error {
	for _, p := range a.pools {
		p.Close()
	}
	return a.journal.Close()
}

// maxReply is the maximum size of a reply in bytes: 1,000 tokens of 100 bytes at each of 4,096
// positions.
const maxReply = 400 << 20

// ask returns a model's answer. If no answer is recorded, ask sends the request and records the
// answer.
func (a *asker) ask(ctx context.Context, m *Model, c completion) (*answer, error) {
	c.Model = m.Model
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	key := requestKey(m, body, c.Start)
	a.mu.Lock()
	entry, ok := a.answers[key]
	a.mu.Unlock()
	if ok {
		return a.recorded(entry)
	}
	var kept *answer
	request := model.Request{
		Path:     "/completions",
		Body:     model.Body{body},
		MaxBytes: maxReply,
		Read: func(reply []byte) (err error) {
			kept, err = parseAnswer(reply, &c)
			return err
		},
	}
	if _, err = a.pools[m.Name].Ask(ctx, request); err != nil {
		return nil, fmt.Errorf("model %q: %w", m.Name, err)
	}
	a.asked.Add(1)
	data, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	entry, err = a.journal.Append(key, data)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[key] = entry
	return kept, err
}

func (a *asker) recorded(e journal.Entry) (*answer, error) {
	data, err := a.journal.Read(e)
	if err != nil {
		return nil, err
	}
	var kept answer
	return &kept, json.Unmarshal(data, &kept)
}

// requestKey returns the key under which an answer is recorded. The key depends on the model,
// its revision and the request, not on the server's address.
func requestKey(m *Model, body []byte, start int) journal.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %s", m.Name, m.Revision, start, body))
	return journal.Key{
		Problem: binary.LittleEndian.Uint32(sum[:]),
		Sample:  binary.LittleEndian.Uint32(sum[4:]),
	}
}

// parseAnswer parses the reply to a completion. It returns an error if the reply lacks the ids
// of tokens, or the likeliest tokens at a position that the request asks for.
func parseAnswer(reply []byte, c *completion) (*answer, error) {
	choice := gjson.GetBytes(reply, "choices.0")
	kept := &answer{Text: choice.Get("text").String()}
	prompt, err := parseIDs(choice.Get("prompt_token_ids"))
	if err != nil {
		return nil, err
	}
	if c.Top == 0 {
		kept.Prompt = prompt
		kept.IDs, err = parseIDs(choice.Get("token_ids"))
		return kept, err
	}
	kept.Text = ""
	positions := choice.Get("prompt_logprobs").Array()
	if len(positions) != len(prompt) || len(prompt) <= c.Start {
		return nil, fmt.Errorf("prompt_logprobs has %d positions for %d tokens: the server must be vLLM with --max-logprobs of at least %d", len(positions), len(prompt), c.Top)
	}
	for i := c.Start; i < len(positions); i++ {
		top, own := parsePosition(positions[i], prompt[i], c.Top)
		if len(top) < c.Top || own == nil {
			return nil, fmt.Errorf("position %d has %d of %d tokens", i, len(top), c.Top)
		}
		kept.Top = append(kept.Top, top)
		kept.Own = append(kept.Own, *own)
	}
	return kept, nil
}

func parseIDs(list gjson.Result) ([]int, error) {
	if !list.IsArray() {
		return nil, errors.New("the reply has no token ids: the server must be vLLM, which return_token_ids asks for them")
	}
	var ids []int
	for _, v := range list.Array() {
		ids = append(ids, int(v.Int()))
	}
	return ids, nil
}

// parsePosition parses the likeliest tokens at one position, at most k. own is the
// log-probability of the prompt's token there, nil if the server did not return it.
func parsePosition(v gjson.Result, token, k int) (top []kl.Token, own *float64) {
	ranks := map[int]int64{}
	v.ForEach(func(id, data gjson.Result) bool {
		logP := data.Get("logprob")
		if logP.Type != gjson.Number { // such as null, which is not a probability of 1
			return true
		}
		t := kl.Token{ID: int(id.Int()), LogP: logP.Num}
		if t.ID == token {
			own = &t.LogP
		}
		rank := data.Get("rank").Int()
		if rank <= int64(k) {
			top = append(top, t)
			ranks[t.ID] = rank
		}
		return true
	})
	slicesx.SortFunc(top, func(a, b kl.Token) int {
		return cmp.Or(cmp.Compare(ranks[a.ID], ranks[b.ID]), cmp.Compare(a.ID, b.ID))
	})
	return top[:min(k, len(top))], own
}
