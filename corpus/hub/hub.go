// Package hub uploads a corpus to a dataset of the Hugging Face Hub, by the Hub's
// plain HTTP interface: large files by git LFS, then one commit of everything.
// What is there already is not sent again, so that the same call goes on where an
// earlier one was stopped, and readers see the old corpus or the new one.
package hub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/webclient"
)

// Scheme begins the URL of a dataset on the Hub.
const Scheme = "hf://"

var name = regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$`)

// Dataset is one dataset of a Hub.
type Dataset struct {
	endpoint, owner, name string
	// token is sent to the Hub alone, never to the stores that it names.
	token string
	http  *http.Client
	// wait is the first pause before a request is tried again.
	wait time.Duration
}

// The Hub's own address, and how long one request may take: a shard has at most
// half a gigabyte.
const (
	home    = "https://huggingface.co"
	timeout = 30 * time.Minute
	maxBody = 64 << 20
	tries   = 5
)

// Open names a dataset by hf://owner/name. endpoint is the Hub's own where it is
// empty.
func Open(ref, endpoint, token string) (*Dataset, error) {
	repo, is := strings.CutPrefix(ref, Scheme)
	if !is || !name.MatchString(repo) {
		return nil, fmt.Errorf("read %s: it is no dataset, such as %sowner/name", ref, Scheme)
	}
	if endpoint == "" {
		endpoint = home
	}
	owner, short, _ := strings.Cut(repo, "/")
	return &Dataset{endpoint: strings.TrimSuffix(endpoint, "/"), owner: owner, name: short, token: token,
		http: webclient.New(timeout, maxBody), wait: time.Second}, nil
}

func (d *Dataset) repo() string { return d.owner + "/" + d.name }

func (d *Dataset) api(path string) string { return d.endpoint + "/api/datasets/" + d.repo() + path }

// ErrStatus is an answer that is no success.
var ErrStatus = errors.New("the Hub refused")

// maxWords bounds what is told of an answer.
const maxWords = 300

// send makes a request whose body can be made again, and reads the answer into
// reply, unless this is nil. What may pass is tried again.
func (d *Dataset) send(ctx context.Context, method, to string, header http.Header, body func() (io.ReadCloser, int64, error), reply any) (http.Header, error) {
	return backoff.Retry(ctx, func() (http.Header, error) {
		content, size, err := body()
		if err != nil {
			return nil, backoff.Permanent(err)
		}
		req, err := http.NewRequestWithContext(ctx, method, to, content)
		if err != nil {
			return nil, backoff.Permanent(errors.Join(err, content.Close()))
		}
		req.ContentLength = size
		for key, values := range header {
			req.Header[key] = values
		}
		if own := strings.HasPrefix(to, d.endpoint+"/") && method != http.MethodPut; own && d.token != "" { // stores have signed addresses
			req.Header.Set("Authorization", "Bearer "+d.token)
		}
		res, err := d.http.Do(req)
		if err != nil {
			return nil, fmt.Errorf("ask the Hub: %w", err)
		}
		defer res.Body.Close() //nolint:errcheck // it was only read
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return nil, fmt.Errorf("read answer of the Hub: %w", err)
		}
		if res.StatusCode/100 != 2 {
			err = &Refusal{Status: res.StatusCode, Words: string(b[:min(len(b), maxWords)])}
			if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < http.StatusInternalServerError {
				err = backoff.Permanent(err)
			}
			return nil, err
		}
		if reply != nil {
			if err = json.Unmarshal(b, reply); err != nil {
				return nil, backoff.Permanent(fmt.Errorf("parse answer of the Hub: %w", err))
			}
		}
		return res.Header, nil
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: d.wait, Multiplier: 2, MaxInterval: time.Minute}), backoff.WithMaxTries(tries))
}

// Refusal is what the Hub says where it does not do what it was asked for.
type Refusal struct {
	Status int
	Words  string
}

// Error is what the Hub said.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%v: status %d: %s", ErrStatus, r.Status, r.Words)
}

// Is reports whether the error is ErrStatus.
func (r *Refusal) Is(target error) bool { return target == ErrStatus }

// post sends JSON and reads JSON.
func (d *Dataset) post(ctx context.Context, to string, kind string, value, reply any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode request to the Hub: %w", err)
	}
	_, err = d.send(ctx, http.MethodPost, to, http.Header{"Content-Type": {kind}, "Accept": {kind}}, inMemory(b), reply)
	return err
}

func inMemory(b []byte) func() (io.ReadCloser, int64, error) {
	if len(b) == 0 {
		return func() (io.ReadCloser, int64, error) { return http.NoBody, 0, nil }
	}
	return func() (io.ReadCloser, int64, error) { return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil }
}

const (
	typeJSON = "application/json"
	typeLFS  = "application/vnd.git-lfs+json"
	typeND   = "application/x-ndjson"
)

// Upload puts the corpus in dir into the dataset, which is made where there is none,
// in the place of the corpus that is there.
func (d *Dataset) Upload(ctx context.Context, fsys corpus.FS, dir string) error {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil {
		return err
	}
	b, err := corpus.ReadFile(fsys, filepath.Join(dir, corpus.ManifestName), maxBody)
	if err != nil {
		return err
	}
	files := append(slices.Clone(m.Files), corpus.FileEntry{Path: corpus.ManifestName, Bytes: int64(len(b)), SHA256: digest.SHA256(b)})
	if err = d.create(ctx); err != nil {
		return err
	}
	there, err := d.list(ctx)
	if err != nil {
		return err
	}
	own := func(path string) bool { return path == ".gitattributes" }
	if !slices.Contains(there, corpus.ManifestName) && slices.ContainsFunc(there, func(p string) bool { return !own(p) && p != corpus.CardName }) {
		return fmt.Errorf("upload to %s%s: %w", Scheme, d.repo(), corpus.ErrForeign)
	}
	u := upload{Dataset: d, fs: fsys, dir: dir, files: files}
	if err = u.large(ctx); err != nil {
		return err
	}
	for _, path := range there {
		if !own(path) && !slices.ContainsFunc(files, func(f corpus.FileEntry) bool { return f.Path == path }) {
			u.stale = append(u.stale, path)
		}
	}
	return u.commit(ctx)
}

func (d *Dataset) create(ctx context.Context) error {
	err := d.post(ctx, d.endpoint+"/api/repos/create", typeJSON, map[string]any{"type": "dataset", "name": d.name, "organization": d.owner}, nil)
	var no *Refusal
	if errors.As(err, &no) && no.Status == http.StatusConflict { // it is there
		return nil
	}
	return err
}

// list names the files of the dataset.
func (d *Dataset) list(ctx context.Context) (paths []string, err error) {
	next := d.api("/tree/main?recursive=true")
	for next != "" {
		var page []struct {
			Type string `json:"type"`
			Path string `json:"path"`
		}
		header, err := d.send(ctx, http.MethodGet, next, nil, inMemory(nil), &page)
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			if f.Type == "file" {
				paths = append(paths, f.Path)
			}
		}
		next = d.following(header.Get("Link"))
	}
	return paths, nil
}

var linked = regexp.MustCompile(`<([^>]+)>; *rel="next"`)

// following is the next page that a header names, on the Hub itself.
func (d *Dataset) following(link string) string {
	found := linked.FindStringSubmatch(link)
	if found == nil {
		return ""
	}
	at, err := url.Parse(found[1])
	if err != nil {
		return ""
	}
	return d.endpoint + at.RequestURI()
}

// upload is one corpus under way.
type upload struct {
	*Dataset
	fs    corpus.FS
	dir   string
	files []corpus.FileEntry
	// small are the files that go into the commit itself, stale those that leave.
	small map[string]bool
	stale []string
}

func (u *upload) path(f *corpus.FileEntry) string {
	return filepath.Join(u.dir, filepath.FromSlash(f.Path))
}

// perRequest bounds the files that one request names.
const perRequest = 256

// maxSample is how much of a file the Hub wants to see to tell text from data.
const maxSample = 512

// large asks which files are sent apart, and sends those that are not there yet.
func (u *upload) large(ctx context.Context) error {
	u.small = map[string]bool{}
	for some := range slices.Chunk(u.files, perRequest) {
		var asked struct {
			Files []map[string]any `json:"files"`
		}
		for _, f := range some {
			head, err := u.sample(&f)
			if err != nil {
				return err
			}
			asked.Files = append(asked.Files, map[string]any{"path": f.Path, "size": f.Bytes, "sample": head})
		}
		var told struct {
			Files []struct {
				Path string `json:"path"`
				Mode string `json:"uploadMode"`
			} `json:"files"`
		}
		if err := u.post(ctx, u.api("/preupload/main"), typeJSON, asked, &told); err != nil {
			return err
		}
		for _, f := range told.Files {
			u.small[f.Path] = f.Mode == "regular"
		}
		apart := slices.DeleteFunc(slices.Clone(some), func(f corpus.FileEntry) bool { return u.small[f.Path] })
		if err := u.sendLarge(ctx, apart); err != nil {
			return err
		}
	}
	return nil
}

func (u *upload) sample(f *corpus.FileEntry) (string, error) {
	in, err := u.fs.Open(u.path(f))
	if err != nil {
		return "", fmt.Errorf("open %s: %w", f.Path, err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(in, maxSample))
	return base64.StdEncoding.EncodeToString(b), err
}

// action is a request that the Hub tells to make.
type action struct {
	Href   string            `json:"href"`
	Header map[string]string `json:"header"`
}

func (a *action) header() http.Header {
	h := http.Header{}
	for key, value := range a.Header {
		h.Set(key, value)
	}
	return h
}

func (u *upload) sendLarge(ctx context.Context, files []corpus.FileEntry) error {
	type object struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	}
	if len(files) == 0 {
		return nil
	}
	byOID, objects := map[string]*corpus.FileEntry{}, []object{}
	for i, f := range files {
		byOID[f.SHA256] = &files[i]
		objects = append(objects, object{f.SHA256, f.Bytes})
	}
	var told struct {
		Objects []struct {
			object
			Actions struct{ Upload, Verify *action } `json:"actions"`
			Error   *struct {
				Message string `json:"message"`
			} `json:"error"`
		} `json:"objects"`
	}
	batch := map[string]any{"operation": "upload", "transfers": []string{"basic"}, "hash_algo": "sha256", "ref": map[string]string{"name": "main"}, "objects": objects}
	if err := u.post(ctx, u.endpoint+"/datasets/"+u.repo()+".git/info/lfs/objects/batch", typeLFS, batch, &told); err != nil {
		return err
	}
	for _, o := range told.Objects {
		f := byOID[o.OID]
		switch {
		case o.Error != nil:
			return fmt.Errorf("upload %s: %w: %s", o.OID, ErrStatus, o.Error.Message)
		case f == nil || o.Actions.Upload == nil: // it is there
			continue
		}
		if _, err := u.send(ctx, http.MethodPut, o.Actions.Upload.Href, o.Actions.Upload.header(), u.content(f), nil); err != nil {
			return fmt.Errorf("upload %s: %w", f.Path, err)
		}
		if v := o.Actions.Verify; v != nil {
			b, err := json.Marshal(o.object)
			if err != nil {
				return fmt.Errorf("encode request to the Hub: %w", err)
			}
			header := v.header()
			header.Set("Content-Type", typeLFS)
			if _, err = u.send(ctx, http.MethodPost, v.Href, header, inMemory(b), nil); err != nil {
				return fmt.Errorf("verify %s: %w", f.Path, err)
			}
		}
	}
	return nil
}

func (u *upload) content(f *corpus.FileEntry) func() (io.ReadCloser, int64, error) {
	return func() (io.ReadCloser, int64, error) {
		in, err := u.fs.Open(u.path(f))
		return in, f.Bytes, err
	}
}

// commit makes all files of the corpus the dataset's at once.
func (u *upload) commit(ctx context.Context) error {
	var b bytes.Buffer
	out := bufio.NewWriter(&b)
	line := func(key string, value any) error {
		return json.NewEncoder(out).Encode(map[string]any{"key": key, "value": value})
	}
	err := line("header", map[string]string{"summary": "Upload a corpus by arena", "description": ""})
	for i := range u.files {
		f := &u.files[i]
		if !u.small[f.Path] {
			err = errors.Join(err, line("lfsFile", map[string]any{"path": f.Path, "algo": "sha256", "oid": f.SHA256, "size": f.Bytes}))
			continue
		}
		text, rerr := corpus.ReadFile(u.fs, u.path(f), maxBody)
		err = errors.Join(err, rerr, line("file", map[string]string{"path": f.Path, "encoding": "base64", "content": base64.StdEncoding.EncodeToString(text)}))
	}
	for _, path := range u.stale {
		err = errors.Join(err, line("deletedFile", map[string]string{"path": path}))
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("encode commit: %w", err)
	}
	_, err = u.send(ctx, http.MethodPost, u.api("/commit/main"), http.Header{"Content-Type": {typeND}}, inMemory(b.Bytes()), nil)
	return err
}
