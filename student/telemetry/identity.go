package telemetry

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/webclient"
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
	// GPUs are those that SGLang says it took, as CUDA_VISIBLE_DEVICES names them.
	GPUs string `json:"gpus,omitempty"`
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
		const most = 1 << 20
		text, err := webclient.Page(ctx, url, key, timeout, most)
		if errors.Is(err, context.DeadlineExceeded) {
			giveUp() // or a server that hangs would be waited for again and again
		}
		if err != nil || !cursor.Valid(text) {
			return ""
		}
		return text
	}
	id := Identity{Endpoint: model.PublicURL(base), Models: []string{}}
	models := gjson.Parse(ask(model.PageURL(base, "/models")))
	for _, m := range models.Get("data").Array() {
		id.Models = append(id.Models, m.Get("id").String())
	}
	id.Engine, id.Path = models.Get("data.0.owned_by").String(), models.Get("data.0.root").String()
	id.MaxModelLen = whole(models.Get("data.0.max_model_len"))
	id.Version = gjson.Get(ask(model.RootPageURL(base, "/version")), "version").String()
	props := gjson.Parse(ask(model.RootPageURL(base, "/props")))
	id.SamplingDefaults = drawing(props.Get("default_generation_settings"))
	id.told(props)
	for _, path := range []string{"/model_info", "/get_model_info", "/server_info", "/get_server_info"} {
		id.told(gjson.Parse(ask(model.RootPageURL(base, path))))
	}
	id.wrote(words)
	return id
}

// drawing are llama.cpp's defaults, which older versions do not keep apart.
func drawing(settings gjson.Result) string {
	if inner := settings.Get("params"); inner.IsObject() {
		settings = inner
	}
	return strings.Join(slicesx.FilterMap([]string{"temperature", "top_p", "top_k", "min_p"}, func(name string) (string, bool) {
		v := settings.Get(name)
		return name + " " + v.Raw, v.Type == gjson.Number
	}), ", ")
}

// overridden is how vLLM logs that the model's generation_config.json decides.
var overridden = regexp.MustCompile("(?i)default (?:vLLM )?(?:chat )?sampling param(?:eter)?s (?:have been overridden by|from) [^{]*([{][^}]*[}])")

// told takes in an answer of llama.cpp or SGLang, or of vLLM in its development
// mode, whose answer is its configuration as text.
func (id *Identity) told(answer gjson.Result) {
	for _, f := range id.fields() {
		if v := answer.Get(f.answered); f.answered != "" && (v.Type == gjson.String && f.text != nil || v.Type == gjson.Number && f.number != nil) {
			f.set(v.String())
		}
	}
	if base := whole(answer.Get("base_gpu_id")); base != nil && id.TensorParallel != nil {
		n := *id.TensorParallel
		if id.PipelineParallel != nil {
			n *= *id.PipelineParallel
		}
		if id.DataParallel != nil && !answer.Get("enable_dp_attention").Bool() { // else replicas share their GPUs
			n *= *id.DataParallel
		}
		var gpus []string
		for i := range min(n, maxGPUs) {
			gpus = append(gpus, strconv.FormatInt(*base+i*max(1, answer.Get("gpu_id_step").Int()), 10))
		}
		id.GPUs = strings.Join(gpus, ",")
	}
	id.wrote(answer.Get("vllm_config").String())
}

// field is a setting by the names that answers, and logs and command lines, have
// for it: a text or a number.
type field struct {
	answered, written string
	text              *string
	number            **int64
}

func (id *Identity) fields() []field {
	return []field{
		{"model_path", "", &id.Path, nil}, {"version", "", &id.Version, nil}, {"context_length", "", nil, &id.MaxModelLen},
		{"build_info", "", &id.Version, nil}, {"model_ftype", "", &id.Quantization, nil}, {"default_generation_settings.n_ctx", "", nil, &id.MaxModelLen},
		{"revision", "revision", &id.Revision, nil}, {"dtype", "dtype", &id.Dtype, nil}, {"quantization", "quantization", &id.Quantization, nil},
		{"kv_cache_dtype", "kv[_-]cache[_-]dtype", &id.KVCacheDtype, nil},
		{"tp_size", "tensor[_-]parallel[_-]size|tp[_-]size|tp", nil, &id.TensorParallel},
		{"pp_size", "pipeline[_-]parallel[_-]size|pp[_-]size|pp", nil, &id.PipelineParallel},
		{"dp_size", "data[_-]parallel[_-]size|dp[_-]size|dp", nil, &id.DataParallel},
	}
}

func (f field) set(v string) {
	if f.text != nil && *f.text == "" && v != "auto" {
		*f.text = v
	}
	if n, err := strconv.ParseInt(v, 10, 64); f.number != nil && *f.number == nil && err == nil {
		*f.number = &n
	}
}

func whole(v gjson.Result) *int64 {
	if v.Type != gjson.Number {
		return nil
	}
	return new(v.Int())
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

func (id *Identity) wrote(words string) {
	for _, f := range id.fields() {
		if f.written != "" && words != "" {
			f.set(said(f.written, words))
		}
	}
	if at := overridden.FindStringSubmatch(words); at != nil && id.SamplingDefaults == "" {
		id.SamplingDefaults = at[1]
	}
}
