package model

import (
	"context"
	"errors"
)

const chatPath = "/chat/completions"

// Chat asks for the next reply of a conversation until it is answered, and
// gives it with its body. The error is a *Fault, beside which the body is the
// server's refusal, or ctx's own.
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
	}
	return Reply{}, a.Body, err
}
