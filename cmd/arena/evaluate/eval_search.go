package evaluate

import (
	"context"
	"fmt"
	"net/http"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
)

// asksASearchServer refuses a URL at which another server answers: a student's
// client would read that as nothing found. One that is down or busy may come back.
func (f *Flags) asksASearchServer(ctx context.Context) error {
	if f.search == "" {
		return nil
	}
	const path = "/find_product"
	question := python.DictOf(python.Item{Key: "q", Value: python.String("a")}, python.Item{Key: "page", Value: python.String("1")})
	_, status, _ := shop.NewRemote(f.search).Get(ctx, path, question)
	if status < http.StatusBadRequest || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return nil
	}
	return cli.Usage(fmt.Errorf("ask the search server: %s%s is answered with status %d", f.search, path, status), "--search is the URL before /find_product, such as that of arena shop serve")
}
