package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
)

const chatPath = "/chat/completions"

// home is one for all requests that begin with the same system prompt and request.
func home(b Body) uint64 {
	const enough = 256 // bytes of the first message: in some forms it grows
	h := fnv.New64a()
	for _, piece := range b[:min(len(b), 3)] {
		h.Write(piece[:min(len(piece), enough)])
	}
	return max(1, h.Sum64())
}

// ErrAway is in the chain of the error for servers that no connection could be made
// to for as long as the configuration's patience.
var ErrAway = errors.New("no server answers")

// Chat asks for the next reply of a conversation until it is answered, and
// gives it with its body. The error is a *Fault, beside which the body is the
// server's refusal, ctx's own, or has ErrAway in its chain: with that no request
// has failed, and all can be asked again.
func (p *Pool) Chat(ctx context.Context, body Body) (reply Reply, kept []byte, err error) {
	a, err := p.Ask(ctx, Request{Path: chatPath, Body: body, Home: home(body), Most: cmp.Or(p.config.MostReply, MaxChat), Read: func(b []byte) (err error) {
		reply, err = ReadTurn(b)
		return err
	}})
	var fault *Fault
	switch {
	case err == nil:
		return reply, a.Body, nil
	case !errors.As(err, &fault) && ctx.Err() != nil:
		err = ctx.Err()
	case p.config.Patience > 0 && fault != nil && fault.Reason == away:
		err = fmt.Errorf("%w: %s", ErrAway, fault.Detail)
	}
	return Reply{}, a.Body, err
}
