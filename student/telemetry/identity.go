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

// Identity is what a server reports of itself. Fields are empty or nil if it does not report
// them.
type Identity struct {
	Endpoint string `json:"endpoint"`
	// Engine is vllm, sglang, or what the server calls itself.
	Engine  string `json:"engine,omitempty"`
	Version string `json:"version,omitempty"`
	// Models are the names that /v1/models lists; Path is the location from which the weights of
	// the first model were loaded.
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
	// GPUs are those that SGLang reports to use, as CUDA_VISIBLE_DEVICES names them.
	GPUs string `json:"gpus,omitempty"`
	// SamplingDefaults are the server's sampling parameters if a request sets none, in the
	// server's format.
	SamplingDefaults string `json:"sampling_defaults,omitempty"`
	// ToolsUnseen reports whether the server takes tools and shows none to the model: by its own
	// count, a prompt is as long with them as without.
	ToolsUnseen bool `json:"tools_unseen,omitempty"`
}

// Identify reads a server's description at base, its URL ending in /v1; key is its bearer
// token, if any. words are its log and its command, if known: vLLM reports dtype and
// parallelism only there. What an endpoint replies takes precedence over words.
func Identify(ctx context.Context, base, key, words string) Identity {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ask := func(url string) string {
		const maxBytes = 1 << 20
		text, err := webclient.Page(ctx, url, key, maxBytes)
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
	id.Engine = models.Get("data.0.owned_by").String()
	id.Path = models.Get("data.0.root").String()
	id.MaxModelLen = integer(models.Get("data.0.max_model_len"))
	id.Version = gjson.Get(ask(model.RootPageURL(base, "/version")), "version").String()
	props := gjson.Parse(ask(model.RootPageURL(base, "/props")))
	id.SamplingDefaults = drawing(props.Get("default_generation_settings"))
	id.addReply(props)
	for _, path := range []string{"/model_info", "/get_model_info", "/server_info", "/get_server_info"} {
		id.addReply(gjson.Parse(ask(model.RootPageURL(base, path))))
	}
	id.wrote(words)
	return id
}

// drawing returns the default sampling parameters of llama.cpp as text, such as "temperature 0.8,
// top_k 40". settings is the server's reply about its settings, which has them in the member params
// or, in older versions, directly.
func drawing(settings gjson.Result) string {
	if inner := settings.Get("params"); inner.IsObject() {
		settings = inner
	}
	return strings.Join(slicesx.FilterMap([]string{"temperature", "top_p", "top_k", "min_p"}, func(name string) (string, bool) {
		v := settings.Get(name)
		return name + " " + v.Raw, v.Type == gjson.Number
	}), ", ")
}

// overridden matches the line of vLLM's log which says that the default sampling parameters are
// from the model's generation_config.json. Its group is these parameters in braces.
var overridden = regexp.MustCompile("(?i)default (?:vLLM )?(?:chat )?sampling param(?:eter)?s (?:have been overridden by|from) [^{]*([{][^}]*[}])")

// addReply adds the settings in a server's reply about itself (llama.cpp's or SGLang's, or vLLM's
// in its development mode, which reports its configuration as text). Settings that are already
// known do not change, except SGLang's GPUs.
func (id *Identity) addReply(answer gjson.Result) {
	for _, f := range id.fields() {
		v := answer.Get(f.answered)
		isText := v.Type == gjson.String && f.text != nil
		isNumber := v.Type == gjson.Number && f.number != nil
		if f.answered != "" && (isText || isNumber) {
			f.set(v.String())
		}
	}
	if base := integer(answer.Get("base_gpu_id")); base != nil && id.TensorParallel != nil {
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

// field is a setting of a server: the variable that gets its value, a text or a number, and where
// the value is found. answered is its key in replies of servers, and written a pattern for its name
// in logs and command lines; each is empty if the setting does not occur there.
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

func integer(v gjson.Result) *int64 {
	if v.Type != gjson.Number {
		return nil
	}
	return new(v.Int())
}

// setting returns the value of a setting in words, a log or a command line: name=value, as vLLM
// logs its configuration, or --name value. names is a pattern for the name. It returns "" if there
// is no value, or if the value is None or auto.
func setting(names, words string) string {
	match := regexp.MustCompile(`(?:[\s(,{](?:` + names + `)=|\s--?(?:` + names + `)[=\s]\s*)'?([A-Za-z0-9._/-]+)`).FindStringSubmatch(words)
	if match == nil || match[1] == "None" || match[1] == "auto" {
		return ""
	}
	return strings.TrimPrefix(match[1], "torch.")
}

func (id *Identity) wrote(words string) {
	for _, f := range id.fields() {
		if f.written != "" && words != "" {
			f.set(setting(f.written, words))
		}
	}
	if match := overridden.FindStringSubmatch(words); match != nil && id.SamplingDefaults == "" {
		id.SamplingDefaults = match[1]
	}
}
