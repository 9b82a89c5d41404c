package telemetry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func number(n int64) *int64 { return &n }

func TestIdentities(t *testing.T) {
	t.Parallel()
	log := "INFO [core.py:61] Initializing a V1 LLM engine (v0.11.0) with config: model='/w/q', speculative_config=None, tokenizer='/w/q', " +
		"tokenizer_revision=abc, revision=None, dtype=torch.bfloat16, max_seq_len=4096, tensor_parallel_size=2, pipeline_parallel_size=1, quantization=None, kv_cache_dtype=auto, x=1"
	for name, c := range map[string]struct {
		pages map[string]string
		words string
		want  Identity
	}{
		"vllm": {
			map[string]string{"/v1/models": `{"data":[{"id":"q","owned_by":"vllm","root":"/w/q","max_model_len":4096}]}`, "/version": `{"version":"0.11.0"}`},
			"vllm serve /w/q --revision r1 --port 8000\n" + log,
			Identity{Engine: "vllm", Version: "0.11.0", Models: []string{"q"}, Path: "/w/q", Revision: "r1", Dtype: "bfloat16", MaxModelLen: number(4096),
				TensorParallel: number(2), PipelineParallel: number(1)},
		},
		"sglang": {
			map[string]string{
				"/v1/models":       `{"data":[{"id":"q","owned_by":"sglang","root":"q"}]}`,
				"/get_model_info":  `{"model_path":"/w/q","is_generation":true}`,
				"/get_server_info": `{"version":"0.5.4","dtype":"float16","tp_size":4,"pp_size":1,"dp_size":2,"base_gpu_id":2,"gpu_id_step":1,"quantization":null,"revision":null,"context_length":8192,"kv_cache_dtype":"auto"}`,
			}, "",
			Identity{Engine: "sglang", Version: "0.5.4", Models: []string{"q"}, Path: "q", Dtype: "float16", MaxModelLen: number(8192),
				TensorParallel: number(4), PipelineParallel: number(1), DataParallel: number(2), GPUs: "2,3,4,5,6,7,8,9"},
		},
		"llama.cpp": {
			map[string]string{
				"/v1/models": `{"data":[{"id":"m.gguf","owned_by":"llamacpp","meta":{"n_ctx":12032,"n_ctx_train":16384}}]}`,
				"/props": `{"default_generation_settings":{"params":{"temperature":0.5,"top_k":40},"n_ctx":12032},"total_slots":4,"model_ftype":"Q4_K - Medium",` +
					`"model_path":"/w/m.gguf","build_info":"b1-0c1e570"}`,
			}, "",
			Identity{Engine: "llamacpp", Version: "b1-0c1e570", Models: []string{"m.gguf"}, Path: "/w/m.gguf", Quantization: "Q4_K - Medium", MaxModelLen: number(12032),
				SamplingDefaults: "temperature 0.5, top_k 40"},
		},
		"command line": {nil, "exec vllm serve m -tp 8 --dtype=half --quantization fp8 --kv-cache-dtype fp8_e4m3",
			Identity{Models: []string{}, Dtype: "half", Quantization: "fp8", KVCacheDtype: "fp8_e4m3", TensorParallel: number(8)}},
		"no JSON": {map[string]string{"/v1/models": "<html>", "/version": "[", "/server_info": `{"dtype":7,"tp_size":"x"}`}, "", Identity{Models: []string{}}},
	} {
		base := serverOf(t, "k", c.pages)
		c.want.Endpoint = base
		if diff := cmp.Diff(c.want, Identify(t.Context(), base, "k", c.words)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestASecretOfTheAddressStaysWithItsServer holds that the secret of an address is sent to its
// server, is not stored, and does not follow a redirect to another host.
func TestASecretOfTheAddressStaysWithItsServer(t *testing.T) {
	t.Parallel()
	var elsewhere, requests atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	localServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "password1" && r.URL.Query().Get("api_key") == "querykey1" {
			requests.Add(1)
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(localServer.Close)
	id := Identify(t.Context(), strings.Replace(localServer.URL, "//", "//me:password1@", 1)+"/v1?api_key=querykey1", "", "")
	if id.Endpoint != localServer.URL+"/v1" || requests.Load() != 7 || elsewhere.Load() != 0 {
		t.Errorf("kept %q; asked %d times with the secrets, want 7, and %d times elsewhere", id.Endpoint, requests.Load(), elsewhere.Load())
	}
}
