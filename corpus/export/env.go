package export

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
)

// profileEnv is the profile of arena env serve.
const profileEnv = "env"

// envFiles are what trainers need beside the rows: an episode over HTTP, and what
// TRL and verl call an environment.
//
//go:embed assets/arena_env.py assets/trl_env.py assets/verl_env.py
var envFiles embed.FS

// envSink writes the rows and remembers the tools of the first.
type envSink struct {
	lineSink
	split string
	tools []string
}

func openEnv(j *job, split string) (sink, error) {
	stream := corpus.Stream{Config: profileEnv, Profile: profileEnv, Split: split, Place: "env/" + split + ".jsonl"}
	return &envSink{lineSink: lineSink{job: j, lines: corpus.NewLines(j.part, stream, "jsonl"), format: envRow}, split: split}, nil
}

func (s *envSink) take(all []row) error {
	fit := slices.IndexFunc(all, func(r row) bool { return r.unfit == nil })
	if s.tools == nil && fit >= 0 {
		s.tools = toolList(all[fit].rl.Tools)
	}
	return s.lineSink.take(all)
}

func (s *envSink) close(ctx context.Context) error {
	if err := s.lineSink.close(ctx); err != nil || s.split != corpus.SplitTrain {
		return err
	}
	files := map[string][]byte{}
	for _, name := range []string{"arena_env.py", "trl_env.py", "verl_env.py"} {
		b, err := envFiles.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		files["env/"+name] = b
	}
	var err error
	files["env/tools.json"] = append([]byte(jsonList(s.tools)), '\n')
	files["env/verl_agent.yaml"] = []byte("- name: arena\n  _target_: verl_env.ArenaLoop\n")
	if files["env/verl_tools.yaml"], err = toolConfig(s.tools); err != nil {
		return err
	}
	return s.job.files(files)
}

// envRow is a row of NeMo-Gym, with the prompt once more as TRL takes it.
func envRow(line []byte, r *row) ([]byte, error) {
	tools := toolList(r.rl.Tools)
	flat := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		var err error
		if flat[i], err = flatTool(t); err != nil {
			return nil, err
		}
	}
	row, err := chat.Marshal(map[string]any{
		"problem_id": r.rl.ProblemID, "dedup_cluster": r.rl.Cluster, "difficulty_bucket": r.rl.Difficulty, "prompt": r.rl.Prompt,
		"responses_create_params": map[string]any{"input": r.rl.Prompt, "tools": flat, "parallel_tool_calls": true},
	})
	return append(line, row...), err
}

// flatTool is a definition as the Responses API has it.
func flatTool(definition string) (json.RawMessage, error) {
	function := gjson.Get(definition, "function")
	if !function.IsObject() {
		return nil, fmt.Errorf("encode a tool: no function in %.80q", definition)
	}
	b, err := chat.Marshal(map[string]any{
		"type": "function", "name": function.Get("name").Str, "description": function.Get("description").Str,
		"parameters": json.RawMessage(function.Get("parameters").Raw), "strict": false,
	})
	return json.RawMessage(b), err
}

// toolConfig is verl's multi_turn.tool_config_path.
func toolConfig(tools []string) ([]byte, error) {
	items := make([]yaml.MapSlice, len(tools))
	for i, t := range tools {
		var def yaml.MapSlice
		if err := yaml.UnmarshalWithOptions([]byte(t), &def, yaml.UseOrderedMap()); err != nil {
			return nil, fmt.Errorf("read tool definition %d: %w", i, err)
		}
		items[i] = yaml.MapSlice{
			{Key: "class_name", Value: "verl_env.ShopTool"},
			{Key: "config", Value: yaml.MapSlice{{Key: "type", Value: "native"}}},
			{Key: "tool_schema", Value: def},
		}
	}
	return yaml.Marshal(yaml.MapSlice{{Key: "tools", Value: items}})
}
