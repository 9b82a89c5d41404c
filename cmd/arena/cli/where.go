package cli

import (
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/corpus/where"
)

// ParseWhere reads the flag --where; nil where it was not given.
func ParseWhere(source string) (*where.Expr, error) {
	expr, err := where.ParseOptional(source)
	if unknown, is := errors.AsType[*where.Unknown](err); is {
		return nil, Usage(fmt.Errorf("read --where: %w", err), fmt.Sprintf("did you mean %q? docs/columns.md lists the columns", unknown.Nearest))
	}
	if err != nil {
		return nil, Usage(fmt.Errorf("read --where: %w", err), "an example: --where 'judge_score >= 0.7 && n_steps <= 15 && task_type != \"voucher\"'")
	}
	return expr, nil
}
