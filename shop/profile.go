// Package shop implements the environment in which students are evaluated: a product catalogue,
// its search, the subnet's tools, and harness profiles. A harness profile is a system prompt
// with tool definitions.
package shop

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// profileFiles has, for each profile, NAME.txt with its system prompt, and the definitions of its
// tools in JSON.
//
//go:embed profiles
var profileFiles embed.FS

// profile is a named set of tools that a student model is shown: the tools' names in the order of
// the prompt, and the folder of their definitions.
type profile struct {
	name  string
	tools []string
	dir   string
}

var profileTools = []profile{
	{"7-tool", []string{
		"find_product", "view_product_information", "check_product_match",
		"find_products_in_same_shop", "calculate_voucher", "recommend_product", "terminate",
	}, "tools"},
	{"4-tool", []string{"find_product", "view_product_information", "recommend_product", "terminate"}, "tools"},
	// A prompt of about 300 bytes, for models with a few hundred thousand weights.
	{"short", []string{"find_product", "recommend_product", "terminate"}, "tools/short"},
}

// Profiles returns the names of the harness profiles, the default first.
func Profiles() []string {
	return slicesx.Map(profileTools, func(p profile) string {
		return p.name
	})
}

// ToolNames returns the names of a profile's tools in the order of the prompt.
func ToolNames(profile string) ([]string, error) {
	i := slices.Index(Profiles(), profile)
	if i < 0 {
		return nil, fmt.Errorf("unknown harness profile %q: want one of %s", profile, strings.Join(Profiles(), ", "))
	}
	return slices.Clone(profileTools[i].tools), nil
}

// Profile returns the harness profile with this name.
func Profile(name string) (arena.Harness, error) {
	tools, err := ToolNames(name)
	if err != nil {
		return arena.Harness{}, err
	}
	profile := profileTools[slices.Index(Profiles(), name)]
	h := arena.Harness{
		Name:   name,
		System: strings.TrimSuffix(profileText(name+".txt"), "\n"),
	}
	for _, t := range tools {
		var def bytes.Buffer
		if err := json.Compact(&def, []byte(profileText(path.Join(profile.dir, t+".json")))); err != nil {
			panic(err) // the tools are embedded in the program
		}
		h.Tools = append(h.Tools, arena.Raw(def.String()))
	}
	h.SHA256 = HarnessSHA256(h.System, h.Tools)
	return h, nil
}

func profileText(file string) string {
	text, err := profileFiles.ReadFile("profiles/" + file)
	if err != nil {
		panic(err) // the profiles are embedded in the program
	}
	return string(text)
}

// HarnessSHA256 returns the checksum that identifies a harness. It covers the system prompt, a
// zero byte, and each compact tool definition with a line feed.
func HarnessSHA256(system string, tools []arena.Raw) string {
	text := []byte(system + "\x00")
	for _, t := range tools {
		text = append(text, t...)
		text = append(text, '\n')
	}
	return digest.SHA256(text)
}
