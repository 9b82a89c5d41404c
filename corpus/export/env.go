package export

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// profileEnv is the profile for trainers that play episodes with the server of `arena env serve`.
const profileEnv = "env"

// envFiles are the files that are exported with the rows of profile env, for training against the
// server of `arena env serve`: a client in Python, environments for TRL and verl, and
// configurations of NeMo-Gym and prime-rl.
//
//go:embed assets/arena_env.py assets/trl_env.py assets/verl_env.py assets/nemo
var envFiles embed.FS

// envPlaces maps the path of each file of profile env, below env/ in the corpus, to the path of
// its content below assets/.
var envPlaces = map[string]string{
	"arena_env.py":                  "arena_env.py",
	"trl_env.py":                    "trl_env.py",
	"verl_env.py":                   "verl_env.py",
	"nemo_gym.yaml":                 "nemo/nemo_gym.yaml",
	"prime_rl.toml":                 "nemo/prime_rl.toml",
	"resources_servers/shop/app.py": "nemo/app.py",
	"resources_servers/shop/requirements.txt": "nemo/requirements.txt",
}

// envSink is the writer of profile env, whose rows are JSON lines. The envSink keeps the tools
// of the first row that can be exported. When the train split is closed, it writes these tools
// to files of their own, together with envFiles.
type envSink struct {
	lineSink
	split string
	tools []string
	// written has the ids of the problems that were made from attempts.
	written map[string]bool
}

func openEnv(j *job, split string) (sink, error) {
	stream := corpus.Stream{
		Config:  profileEnv,
		Profile: profileEnv,
		Split:   split,
		Place:   "env/" + split + ".jsonl",
	}
	lines := lineSink{
		job:        j,
		lines:      corpus.NewLines(j.part, stream, "jsonl"),
		appendJSON: appendEnvRow,
	}
	return &envSink{
		lineSink: lines,
		split:    split,
		written:  map[string]bool{},
	}, nil
}

func (s *envSink) write(batch []row) error {
	batch = s.problems(batch)
	if s.tools == nil {
		i := slices.IndexFunc(batch, func(r row) bool {
			return r.unfit == nil
		})
		if i >= 0 {
			s.tools = splitTools(batch[i].rl.Tools)
		}
	}
	return s.lineSink.write(batch)
}

// reasonProblem is the reason for which an attempt becomes no row of profile env.
const reasonProblem = "problem_repeated" // the row of another attempt at the same problem has the problem

// problems returns the rows of problems as they are, and for rows of attempts those of their problems:
// the messages before the first of the model, and the tools. A corpus has only attempts if its
// domain has no environment that arena knows. Attempts after the first at a problem get
// reasonProblem.
func (s *envSink) problems(batch []row) []row {
	out := slices.Clone(batch)
	for i := range out {
		attempt := out[i].sft
		if attempt == nil || out[i].unfit != nil {
			continue
		}
		out[i] = row{rl: problemOf(&out[i])}
		if s.written[attempt.ProblemID] {
			out[i].unfit = &chat.Unfit{Reason: reasonProblem}
		}
		s.written[attempt.ProblemID] = true
	}
	return out
}

// problemOf returns the problem of an attempt. Its outcomes are unknown.
func problemOf(r *row) *rows.RL {
	problem := &rows.RL{
		Tools:  jsonList(r.sft.Tools),
		Origin: r.sft.Origin,
	}
	for _, m := range chat.Unescape(r.messages) {
		if m.Role == chat.Assistant {
			break
		}
		problem.Prompt = append(problem.Prompt, rows.Msg{Role: m.Role, Content: m.Content})
	}
	return problem
}

func (s *envSink) close(ctx context.Context) error {
	if err := s.lineSink.close(ctx); err != nil || s.split != corpus.SplitTrain {
		return err
	}
	verlTools, err := verlToolConfig(s.tools)
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"env/tools.json":      append([]byte(jsonList(s.tools)), '\n'),
		"env/verl_agent.yaml": []byte("- name: arena\n  _target_: verl_env.ArenaLoop\n"),
		"env/verl_tools.yaml": verlTools,
	}
	for name, asset := range envPlaces {
		files["env/"+name], err = envFiles.ReadFile("assets/" + asset)
		if err != nil {
			return err
		}
	}
	return s.job.writeFiles(files)
}

// appendEnvRow appends a problem to line as a JSON object in the format of NeMo-Gym, a library for
// training in environments, and returns line. The prompt is also under the key that TRL reads. It
// returns an error if the definition of a tool has no function.
func appendEnvRow(line []byte, r *row) ([]byte, error) {
	tools := splitTools(r.rl.Tools)
	responsesTools := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		var err error
		responsesTools[i], err = responsesTool(t)
		if err != nil {
			return nil, err
		}
	}
	var difficulty *string // null if it is unknown
	if r.rl.Difficulty != "" {
		difficulty = &r.rl.Difficulty
	}
	row, err := chat.Marshal(map[string]any{
		"problem_id":        r.rl.ProblemID,
		"dedup_cluster":     r.rl.Cluster,
		"difficulty_bucket": difficulty,
		"prompt":            r.rl.Prompt,
		"responses_create_params": map[string]any{
			"input":               r.rl.Prompt,
			"tools":               responsesTools,
			"parallel_tool_calls": true,
		},
	})
	return append(line, row...), err
}

// responsesTool converts an OpenAI tool definition into the format of the Responses API, in which
// a tool without parameters has null.
func responsesTool(definition string) (json.RawMessage, error) {
	function := gjson.Get(definition, "function")
	if !function.IsObject() {
		return nil, fmt.Errorf("encode a tool: no function in %.80q", definition)
	}
	b, err := chat.Marshal(map[string]any{
		"type":        "function",
		"name":        function.Get("name").Str,
		"description": function.Get("description").Str,
		"parameters":  json.RawMessage(cmp.Or(function.Get("parameters").Raw, "null")),
		"strict":      false,
	})
	return json.RawMessage(b), err
}

// verlToolConfig returns the YAML file for verl's setting multi_turn.tool_config_path, for tools that are
// OpenAI definitions. The file names the tools, and the class of each takes its definition from
// tools.json, since verl refuses some definitions and shows only a part of others.
func verlToolConfig(tools []string) ([]byte, error) {
	items := make([]yaml.MapSlice, len(tools))
	for i, t := range tools {
		items[i] = yaml.MapSlice{
			{Key: "class_name", Value: "verl_env.ShopTool"},
			{
				Key: "config",
				Value: yaml.MapSlice{
					{Key: "type", Value: "native"},
					{Key: "name", Value: gjson.Get(t, "function.name").Str},
				},
			},
		}
	}
	return yaml.Marshal(yaml.MapSlice{{Key: "tools", Value: items}})
}
