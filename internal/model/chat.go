package model

import (
	"context"
	"errors"
	"fmt"
)

const chatPath = "/chat/completions"

// ErrAway is in the chain of the error for servers that no connection could be made
// to for as long as the configuration's patience.
var ErrAway = errors.New("no server answers")

// Chat asks for the next reply of a conversation until it is answered, and
// gives it with its body. The error is a *Fault, beside which the body is the
// server's refusal, ctx's own, or has ErrAway in its chain: with that no request
// has failed, and all can be asked again.
func (p *Pool) Chat(ctx context.Context, body Body) (reply Reply, kept []byte, err error) {
	a, err := p.Ask(ctx, Request{Path: chatPath, Body: body, Most: MaxChat, Read: func(b []byte) (err error) {
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
