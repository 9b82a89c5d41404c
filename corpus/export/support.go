package export

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
)

// files writes small files beside the shards, at fixed places.
func (j *job) files(content map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		f, err := corpus.NewPlace(j.part, name)
		if err != nil {
			return err
		}
		if _, err := f.Write(content[name]); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// support writes what a profile's loader needs beside the rows of all splits.
func (j *job) support() error {
	switch j.profile.Name {
	case corpus.ProfileShareGPT:
		return j.datasetInfo()
	case "arrow":
		return j.arrowDict()
	default:
		return nil
	}
}

// datasetInfo is LLaMA-Factory's dataset_info.json: an entry for each split
// that has rows. file_name is a folder, for a pattern is not understood.
func (j *job) datasetInfo() error {
	info := map[string]any{}
	for _, split := range j.part.Splits(j.profile.Name) {
		info["sharegpt_"+split] = map[string]any{
			"file_name":  "data/" + j.profile.Name + "/" + split,
			"formatting": "sharegpt",
			"columns":    map[string]string{"messages": "conversations", "system": "system", "tools": "tools"},
			"tags": map[string]string{"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt",
				"observation_tag": "observation", "function_tag": "function_call", "system_tag": "system"},
		}
	}
	b, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	return j.files(map[string][]byte{"dataset_info.json": append(b, '\n')})
}
