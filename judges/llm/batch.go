package llm

import (
	"fmt"
	"net/http"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/ledger"
)

// batchTries is the maximum number of times that a question is asked in a batch, since each batch
// may take a day.
const batchTries = 2

// batched returns the verdict on a question from the results of a batch (requests that a server
// answers later, as files), and records the exchange in the ledger. If there is no result, or its
// reply is no answer, the verdict has no answer, and a request is added to the batch unless the
// tries are used up. Only the first panel member of the question's order is asked.
func (j *Judge) batched(q question) (verdict, error) {
	member := q.order[0]
	request := j.request(q, member)
	client := j.clients[member]
	key, err := client.Key(request)
	if err != nil {
		return verdict{}, err
	}
	body, err := client.Body(request)
	if err != nil {
		return verdict{}, err
	}
	pending := verdict{outcome: arena.JudgeFailed, cost: ledger.Free(), detail: "the batch has no answer yet"}
	try := j.ledger.Unread(q.hash) + 1
	tries := min(j.cfg.Tries, batchTries)
	if try > tries {
		pending.detail = "the tries are spent"
		return pending, nil
	}
	id := batchID(q, try)
	raw, ok := j.options.Batch.Result(id)
	if !ok {
		return pending, j.options.Batch.Add(id, body)
	}
	e := ledger.Exchange{
		Key: key, Ask: q.hash, Model: request.Model, PromptSHA256: q.prompt.sha256, Try: try,
		PromptBytes: q.bytes, Verdicts: q.verdicts, Outcome: arena.JudgeFailed,
		Tokens: ledger.Free(), Total: ledger.Free(), Payer: j.options.Payer,
	}
	x, readErr := batchExchange(body, raw)
	v, _ := j.readExchange(q, &e, x, readErr)
	v.member = member
	if err := j.ledger.Add(e); err != nil || v.outcome == arena.JudgeScored || try == tries {
		return v, err
	}
	return v, j.options.Batch.Add(batchID(q, try+1), body)
}

// batchExchange returns the exchange of a request with the reply of a batch's result. The error is a
// *model.Fault if the reply cannot be read.
func batchExchange(request, body []byte) (model.Exchange, error) {
	reply, err := model.Read(body)
	if err != nil {
		err = &model.Fault{Kind: model.Unreadable, Reason: "unreadable", Status: http.StatusOK, Detail: err.Error()}
	}
	return model.Exchange{
		Reply:   reply,
		Answer:  model.Answer{Status: http.StatusOK, Body: body},
		Request: request,
	}, err
}

// batchID returns the id under which the given try of a question is written to a file of a batch
// and found in its results.
func batchID(q question, try int) string { return fmt.Sprintf("%s-%d", q.hash[:32], try) }
