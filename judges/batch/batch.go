// Package batch reads and writes the batch files of OpenAI-compatible providers, which answer a file
// of requests within a day at half the price.
package batch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/jsonl"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// The limits of one file of requests. They are below those of OpenAI (50,000 requests, 200 MB).
const (
	maxRequests = 50_000
	maxBytes    = 190 << 20
)

// requestsName is the prefix of the names of files of requests. Every other .jsonl file of the
// folder contains results.
const requestsName = "requests-"

// Folder is a folder with the request files that arena wrote and the result files that the
// provider returned. Its methods are safe for concurrent use.
type Folder struct {
	path string

	mu      sync.Mutex
	results map[string][]byte
	// sent has the ids of the requests in files. added has the lines of the next file by id.
	sent  map[string]bool
	files int
	added map[string][]byte
	bytes int
}

// line is one line of a file of requests or of results.
type line struct {
	ID       string          `json:"custom_id"`
	Method   string          `json:"method,omitempty"`
	URL      string          `json:"url,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`
	Response *response       `json:"response,omitempty"`
}

type response struct {
	Status int             `json:"status_code"`
	Body   json.RawMessage `json:"body"`
}

// Open reads the folder at path and creates it if it does not exist. A request whose result is
// an error may be added again.
func Open(path string) (*Folder, error) {
	f := &Folder{path: path, results: map[string][]byte{}, sent: map[string]bool{}, added: map[string][]byte{}}
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(path, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var failed []string
	for _, file := range files {
		isRequests := strings.HasPrefix(filepath.Base(file), requestsName)
		if isRequests {
			f.files++
		}
		err := jsonl.Each(file, func(l line) error {
			switch {
			case isRequests:
				f.sent[l.ID] = true
			case l.Response != nil && l.Response.Status == 200:
				f.results[l.ID] = l.Response.Body
			default:
				failed = append(failed, l.ID)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read batch %s: %w", file, err)
		}
	}
	for _, id := range failed {
		delete(f.sent, id)
	}
	return f, nil
}

// Result returns the body of the reply to a request. ok is false if there is no reply yet.
func (f *Folder) Result(id string) (body []byte, ok bool) {
	body, ok = f.results[id]
	return body, ok
}

// Add adds a request to the next file, unless a file already has it. A request that exceeds the
// limits of one file is dropped and must be added in the next run.
func (f *Folder) Add(id string, body []byte) error {
	b, err := json.Marshal(line{ID: id, Method: "POST", URL: "/v1/chat/completions", Body: body})
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent[id] || len(f.added) == maxRequests || f.bytes+len(b) > maxBytes {
		return nil
	}
	if f.added[id] == nil {
		f.added[id] = b
		f.bytes += len(b) + 1
	}
	return nil
}

// Close writes the added requests, sorted by id, to one new file. It returns the path of the
// file and the number of requests. It writes nothing if none were added.
func (f *Folder) Close() (path string, requests int, err error) {
	if len(f.added) == 0 {
		return "", 0, nil
	}
	path = filepath.Join(f.path, fmt.Sprintf("%s%04d.jsonl", requestsName, f.files+1))
	file, err := atomicfile.Create(path)
	if err != nil {
		return "", 0, err
	}
	for _, id := range slicesx.SortedKeys(f.added) {
		if _, err = file.Write(append(f.added[id], '\n')); err != nil {
			break
		}
	}
	return path, len(f.added), file.End(err)
}
