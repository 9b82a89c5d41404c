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

// Server is a search server that the tools can query. Local and Remote implement it.
type Server interface {
	// Get sends a GET request. For a failed request, ok is false and status is the HTTP status,
	// 0 if there was no response.
	Get(ctx context.Context, path string, params python.Value) (answer python.Value, status int, ok bool)
}

// Local is a search server in the same process, without HTTP.
type Local struct {
	Catalog *Catalog
	Rules   Rules
}

// Get returns the response that the subnet's server would send.
func (l Local) Get(
	_ context.Context,
	path string,
	params python.Value,
) (python.Value, int, bool) {
	v, status := l.respond(path, func(key string) (string, bool) {
		return sentParam(params, key)
	})
	return v, status, status == http.StatusOK
}

// maxViewedProducts is the maximum number of product ids in a request. Without this limit, 256
// KiB of ids would return 16 MB; a model's context holds far fewer products.
const maxViewedProducts = 1000

// respond returns the response to a request for a path of the search server, and its HTTP status;
// the response is None unless that is 200. param returns the first value of a query parameter, and
// false if there is none.
func (l Local) respond(path string, param func(key string) (string, bool)) (python.Value, int) {
	get := func(key string) string {
		v, _ := param(key)
		return v
	}
	if strings.Count(get("product_ids"), ",") >= maxViewedProducts {
		return python.Value{}, http.StatusRequestURITooLong
	}
	var v python.Value
	var err error
	switch path {
	case "/find_product":
		query := Query{
			Q:       get("q"),
			Page:    get("page"),
			ShopID:  get("shop_id"),
			Price:   get("price"),
			Sort:    get("sort"),
			Service: get("service"),
		}
		v, err = l.Catalog.searchResponse(query, l.Rules)
	case "/view_product_information":
		ids, ok := param("product_ids")
		if !ok {
			return v, http.StatusInternalServerError
		}
		v, err = l.Catalog.lookUp(ids, func(i int) (python.Value, error) {
			return l.Catalog.fields(i, viewFields)
		})
	case "/get_product_raw":
		v, err = l.Catalog.lookUp(get("product_ids"), l.Catalog.product)
	case "/health":
		v = python.DictOf(
			item("service", python.String("search-server")),
			item("status", python.String("healthy")),
		)
	case "/":
		v = python.DictOf(
			item("/find_product", python.String("q,page,shop_id,price,sort,service")),
			item("/view_product_information", python.String("product_ids")),
		)
	default:
		return v, http.StatusNotFound
	}
	if err != nil {
		return v, http.StatusInternalServerError
	}
	return v, http.StatusOK
}

// sentParam returns the text that the server receives for a parameter of a tool: the first
// element of a list, the first key of a dict, or the text of any other value. It returns false
// for None and for an empty list or dict, which are not sent.
func sentParam(params python.Value, key string) (string, bool) {
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

// Handler returns an HTTP handler with the endpoints, parameters, bodies and status codes of the
// subnet's search server.
func Handler(l Local) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := "/" + strings.TrimLeft(r.URL.Path, "/") // as waitress reads it
		if r.Method != http.MethodGet && r.Method != http.MethodHead && slices.Contains(paths, path) {
			refuse(w, r.Method)
			return
		}
		v, status := l.respond(path, queryParam(r.URL.RawQuery))
		if status != http.StatusOK {
			writeError(w, status)
			return
		}
		write(w, status, "application/json", append(python.Compact(v), '\n'))
	})
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client is gone
}

// explanations maps an HTTP status to the text of the error page that the subnet's server
// (Werkzeug) sends.
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

// refuse responds to a request with a method that is neither GET nor HEAD. Like Flask, it answers
// OPTIONS with the allowed methods and any other method with status 405.
func refuse(w http.ResponseWriter, method string) {
	w.Header().Set("Allow", "GET, OPTIONS, HEAD")
	if method == http.MethodOptions {
		write(w, http.StatusOK, "text/html; charset=utf-8", nil)
		return
	}
	writeError(w, http.StatusMethodNotAllowed)
}

// queryParam returns a function that finds a parameter in the query string raw. The function
// returns the first value of a repeated parameter, and false for a missing one. Invalid escapes
// are left unchanged.
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
