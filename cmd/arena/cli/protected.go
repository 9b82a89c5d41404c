package cli

import (
	"errors"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// NotProtected says what helps where a corpus cannot be guarded; nil for errors of
// other kinds.
func NotProtected(err error) error {
	switch {
	case errors.Is(err, finish.ErrNotProtected):
		return Usage(err, "give the file with --held-out, or the bank.json of the corpus with --held-out or --bank: what was held out once stays held out")
	case errors.Is(err, guard.ErrBank):
		return Failed(err, BankForms)
	}
	return nil
}
