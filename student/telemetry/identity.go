package telemetry

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/model"
)

// Identity is what a server says it serves, and how. Empty and nil fields are
// what it does not say.
type Identity struct {
	Endpoint string `json:"endpoint"`
	// Engine is vllm, sglang, or what the server calls itself.
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	// Models are the names that /v1/models lists; Path is where the weights of
	// the first came from.
	Models       []string `json:"models"`
	Path         string   `json:"path,omitempty"`
	Revision     string   `json:"revision,omitempty"`
	Dtype        string   `json:"dtype,omitempty"`
	Quantization string   `json:"quantization,omitempty"`
	KVCacheDtype string   `json:"kv_cache_dtype,omitempty"`
	MaxModelLen  *int64   `json:"max_model_len,omitempty"`
	// The parallelism, in GPUs: of tensors, of layers, of replicas.
	TensorParallel   *int64 `json:"tensor_parallel,omitempty"`
	PipelineParallel *int64 `json:"pipeline_parallel,omitempty"`
	DataParallel     *int64 `json:"data_parallel,omitempty"`
	// SamplingDefaults is what the server draws with where a request does not say,
	// in its own words.
	SamplingDefaults string `json:"sampling_defaults,omitempty"`
}

// Identify asks the server at base, its URL ending in /v1; key is its bearer
// token, if any. words are its log and the command that started it, where they
// are known: vLLM tells dtype and parallelism only there. What an end point
// answers comes before what words say.
func Identify(ctx context.Context, base, key, words string) Identity {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ask := func(url string) string {
		text, err := page(ctx, url, key)
		if errors.Is(err, context.DeadlineExceeded) {
			giveUp() // or a server that hangs would be waited for again and again
		}
		return text
	}
	id := Identity{Endpoint: model.Address(base), Models: []string{}}
	models := gjson.Parse(ask(model.Page(base, "/models")))
	for _, m := range models.Get("data").Array() {
		id.Models = append(id.Models, m.Get("id").String())
	}
	id.Engine, id.Path = models.Get("data.0.owned_by").String(), models.Get("data.0.root").String()
	id.MaxModelLen = whole(models.Get("data.0.max_model_len"))
	id.Version = gjson.Get(ask(model.PageBeside(base, "/version")), "version").String()
	for _, path := range []string{"/model_info", "/get_model_info", "/server_info", "/get_server_info"} {
		id.told(gjson.Parse(ask(model.PageBeside(base, path))))
	}
	id.SamplingDefaults = drawing(gjson.Parse(ask(model.PageBeside(base, "/props"))).Get("default_generation_settings"))
	id.wrote(words)
	return id
}

// drawing are llama.cpp's defaults, which older versions do not keep apart.
func drawing(settings gjson.Result) string {
	if inner := settings.Get("params"); inner.IsObject() {
		settings = inner
	}
	var all []string
	for _, name := range []string{"temperature", "top_p", "top_k", "min_p"} {
		if v := settings.Get(name); v.Type == gjson.Number {
			all = append(all, name+" "+v.Raw)
		}
	}
	return strings.Join(all, ", ")
}

// overridden is how vLLM logs that the model's generation_config.json decides.
var overridden = regexp.MustCompile("(?i)default (?:vLLM )?(?:chat )?sampling param(?:eter)?s (?:have been overridden by|from) [^{]*([{][^}]*[}])")

// page is a bounded JSON answer; empty where there is none.
func page(ctx context.Context, url, key string) (string, error) {
	b, err := get(ctx, url, key)
	if err != nil {
		return "", err
	}
	defer b.Close() //nolint:errcheck // only read
	const most = 1 << 20
	read, err := io.ReadAll(io.LimitReader(b, most))
	text := string(read)
	if err != nil || !cursor.Valid(text) {
		return "", err
	}
	return text, nil
}

// told takes in an answer of SGLang, or of vLLM in its development mode, whose
// answer is its configuration as text.
func (id *Identity) told(answer gjson.Result) {
	for name, to := range id.texts() {
		if v := answer.Get(name); *to == "" && v.Type == gjson.String && v.String() != "auto" {
			*to = v.String()
		}
	}
	for name, to := range id.numbers() {
		if *to == nil {
			*to = whole(answer.Get(name))
		}
	}
	id.wrote(answer.Get("vllm_config").String())
}

// texts and numbers are the fields by the names that servers have for them.
func (id *Identity) texts() map[string]*string {
	return map[string]*string{
		"model_path": &id.Path, "version": &id.Version, "revision": &id.Revision, "dtype": &id.Dtype,
		"quantization": &id.Quantization, "kv_cache_dtype": &id.KVCacheDtype,
	}
}

func (id *Identity) numbers() map[string]**int64 {
	return map[string]**int64{
		"tp_size": &id.TensorParallel, "pp_size": &id.PipelineParallel, "dp_size": &id.DataParallel,
		"context_length": &id.MaxModelLen,
	}
}

func whole(v gjson.Result) *int64 {
	if v.Type != gjson.Number {
		return nil
	}
	n := v.Int()
	return &n
}

// said finds a setting in a log or on a command line: name=value as vLLM logs
// its configuration, or --name value.
func said(names, words string) string {
	at := regexp.MustCompile(`(?:[\s(,{](?:` + names + `)=|\s--?(?:` + names + `)[=\s]\s*)'?([A-Za-z0-9._/-]+)`).FindStringSubmatch(words)
	if at == nil || at[1] == "None" || at[1] == "auto" {
		return ""
	}
	return strings.TrimPrefix(at[1], "torch.")
}

// wrote takes in what a log or a command line says.
func (id *Identity) wrote(words string) {
	if words == "" {
		return
	}
	for names, to := range map[string]*string{
		"revision": &id.Revision, "dtype": &id.Dtype, "quantization": &id.Quantization, "kv[_-]cache[_-]dtype": &id.KVCacheDtype,
	} {
		if *to == "" {
			*to = said(names, words)
		}
	}
	if at := overridden.FindStringSubmatch(words); at != nil && id.SamplingDefaults == "" {
		id.SamplingDefaults = at[1]
	}
	for names, to := range map[string]**int64{
		"tensor[_-]parallel[_-]size|tp[_-]size|tp": &id.TensorParallel, "pipeline[_-]parallel[_-]size|pp[_-]size|pp": &id.PipelineParallel,
		"data[_-]parallel[_-]size|dp[_-]size|dp": &id.DataParallel,
	} {
		if n, err := strconv.ParseInt(said(names, words), 10, 32); *to == nil && err == nil {
			*to = &n
		}
	}
}
