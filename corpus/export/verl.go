package export

import (
	"context"
	_ "embed" // the Python files beside the shards
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

//go:embed assets/reward.py
var rewardPy []byte

//go:embed assets/arena_tools.py
var toolsPy []byte

// verlSink writes the rows and remembers the tools of the first.
type verlSink struct {
	rowSink[rows.RL]
	split string
	tools []string
}

func openVerlRL(j *job, split string) (sink, error) {
	stream := corpus.Stream{Config: j.profile.Name, Profile: corpus.ProfileVerlRL, Split: split}
	return &verlSink{rowSink: rowSink[rows.RL]{job: j, shards: corpus.NewShards[rows.RL](j.part, stream), convert: sameRL}, split: split}, nil
}

func (s *verlSink) take(rows []row) error {
	fit := slices.IndexFunc(rows, func(r row) bool { return r.unfit == nil })
	if s.tools == nil && fit >= 0 {
		s.tools = toolList(rows[fit].rl.Tools)
	}
	return s.rowSink.take(rows)
}

func (s *verlSink) close(ctx context.Context) error {
	if err := s.rowSink.close(ctx); err != nil {
		return err
	}
	if s.split != corpus.SplitTrain {
		return nil
	}
	config, err := toolConfig(s.tools)
	if err != nil {
		return err
	}
	return s.job.files(map[string][]byte{"verl/reward.py": rewardPy, "verl/arena_tools.py": toolsPy, "verl/tools.yaml": config})
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
			{Key: "class_name", Value: "arena_tools.ShopTool"},
			{Key: "config", Value: yaml.MapSlice{{Key: "type", Value: "native"}}},
			{Key: "tool_schema", Value: def},
		}
	}
	return yaml.Marshal(yaml.MapSlice{{Key: "tools", Value: items}})
}
