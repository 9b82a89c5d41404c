package shop

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// Server answers the requests that tools make. Local and Remote are the two.
type Server interface {
	// Get is one GET request. ok is false where no answer came in the end;
	// status is then 0 if none came at all.
	Get(ctx context.Context, path string, params python.Value) (answer python.Value, status int, ok bool)
}

// Local answers from a catalogue without any HTTP in between.
type Local struct {
	Catalog *Catalog
	Rules   Rules
}

// Get answers at once.
func (l Local) Get(_ context.Context, path string, params python.Value) (python.Value, int, bool) {
	v, status := l.answer(path, func(key string) (string, bool) { return sent(params, key) })
	return v, status, status == http.StatusOK
}

// maxViewed is how many products one request may ask for: far more than fit into
// a model's context. Without it 256 KiB of ids fetch 16 MB.
const maxViewed = 1000

// answer is the server's routing table. param gives the first value of a
// query parameter.
func (l Local) answer(path string, param func(string) (string, bool)) (python.Value, int) {
	get := func(key string) string { v, _ := param(key); return v }
	if strings.Count(get("product_ids"), ",") >= maxViewed {
		return python.Value{}, http.StatusRequestURITooLong
	}
	var v python.Value
	var err error
	switch path {
	case "/find_product":
		v, err = l.Catalog.found(Query{
			Q: get("q"), Page: get("page"), ShopID: get("shop_id"), Price: get("price"), Sort: get("sort"), Service: get("service"),
		}, l.Rules)
	case "/view_product_information":
		ids, ok := param("product_ids")
		if !ok {
			return v, http.StatusInternalServerError
		}
		v, err = l.Catalog.lookUp(ids, func(i int) (python.Value, error) { return l.Catalog.fields(i, viewedFields) })
	case "/get_product_raw":
		v, err = l.Catalog.lookUp(get("product_ids"), l.Catalog.product)
	case "/health":
		v = python.DictOf(python.Item{Key: "service", Value: python.String("search-server")}, python.Item{Key: "status", Value: python.String("healthy")})
	case "/":
		v = python.DictOf(
			python.Item{Key: "/find_product", Value: python.String("q,page,shop_id,price,sort,service")},
			python.Item{Key: "/view_product_information", Value: python.String("product_ids")},
		)
	default:
		return v, http.StatusNotFound
	}
	if err != nil {
		return v, http.StatusInternalServerError
	}
	return v, http.StatusOK
}

// sent is what the server reads of a parameter that a tool sends: nothing for
// None and for an empty list, the first element of a list, the first key of a
// dict, the text of anything else.
func sent(params python.Value, key string) (string, bool) {
	v, ok := params.Get(key)
	switch {
	case !ok || v.Kind == python.None:
		return "", false
	case v.Kind == python.List:
		if len(v.List) == 0 {
			return "", false
		}
		return v.List[0].String(), true
	case v.Kind == python.Dict:
		if len(v.Dict) == 0 {
			return "", false
		}
		return v.Dict[0].Key, true
	default:
		return v.String(), true
	}
}

// Handler serves a catalogue over HTTP as the subnet's search server does:
// the same end points, parameters, bodies and status codes.
func Handler(l Local) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := "/" + strings.TrimLeft(r.URL.Path, "/") // as waitress reads it
		if r.Method != http.MethodGet && r.Method != http.MethodHead && slices.Contains(paths, path) {
			refuse(w, r.Method)
			return
		}
		v, status := l.answer(path, queryParam(r.URL.RawQuery))
		if status != http.StatusOK {
			writeError(w, status)
			return
		}
		write(w, status, "application/json", append(python.AppendCompact(nil, v), '\n'))
	})
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone: nobody to tell
}

// explanations are what Werkzeug says of a status below its name.
var explanations = map[int]string{
	http.StatusNotFound:            "The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.",
	http.StatusMethodNotAllowed:    "The method is not allowed for the requested URL.",
	http.StatusRequestURITooLong:   "The length of the requested URL exceeds the capacity limit for this server. The request cannot be processed.",
	http.StatusInternalServerError: "The server encountered an internal error and was unable to complete your request. Either the server is overloaded or there is an error in the application.",
}

func writeError(w http.ResponseWriter, status int) {
	write(w, status, "text/html; charset=utf-8", fmt.Appendf(nil,
		"<!doctype html>\n<html lang=en>\n<title>%d %[2]s</title>\n<h1>%[2]s</h1>\n<p>%s</p>\n", status, http.StatusText(status), explanations[status]))
}

var paths = []string{"/", "/find_product", "/get_product_raw", "/health", "/view_product_information"}

// refuse answers every method but GET and HEAD as Flask does, which asks for
// the path first and tells what it allows.
func refuse(w http.ResponseWriter, method string) {
	w.Header().Set("Allow", "GET, OPTIONS, HEAD")
	if method == http.MethodOptions {
		write(w, http.StatusOK, "text/html; charset=utf-8", nil)
		return
	}
	writeError(w, http.StatusMethodNotAllowed)
}

// queryParam reads a query string leniently: a broken escape stays as it is,
// of a repeated parameter the first counts.
func queryParam(raw string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		for part := range strings.SplitSeq(raw, "&") {
			name, value, _ := strings.Cut(part, "=")
			if part != "" && python.UnquotePlus(name) == key {
				return python.UnquotePlus(value), true
			}
		}
		return "", false
	}
}
