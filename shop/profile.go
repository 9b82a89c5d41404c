// Package shop is the environment that students act in: a product catalogue,
// the search over it, the subnet's tools on top, and the harness profiles
// (system prompt and tool definitions) that corpora are rendered and students
// are evaluated with.
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

//go:embed profiles
var profileFiles embed.FS

// profile is a list of tools in the order a model sees them, with the folder of their
// definitions.
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
	// For models of a few hundred thousand weights: some 300 bytes of prompt.
	{"short", []string{"find_product", "recommend_product", "terminate"}, "tools/short"},
}

// Profiles names the harness profiles, the default one first.
func Profiles() []string { return slicesx.Map(profileTools, func(p profile) string { return p.name }) }

// ToolNames names the tools of a profile in the order a model sees them.
func ToolNames(profile string) ([]string, error) {
	i := slices.Index(Profiles(), profile)
	if i < 0 {
		return nil, fmt.Errorf("unknown harness profile %q: want one of %s", profile, strings.Join(Profiles(), ", "))
	}
	return slices.Clone(profileTools[i].tools), nil
}

// Profile gives the harness profile of that name. Its SHA256 is the hash of
// the system prompt, a zero byte, and each compact tool definition followed by
// a line feed.
func Profile(name string) (arena.Harness, error) {
	tools, err := ToolNames(name)
	if err != nil {
		return arena.Harness{}, err
	}
	profile := profileTools[slices.Index(Profiles(), name)]
	h := arena.Harness{Name: name, System: strings.TrimSuffix(profileText(name+".txt"), "\n")}
	for _, t := range tools {
		var def bytes.Buffer
		if err := json.Compact(&def, []byte(profileText(path.Join(profile.dir, t+".json")))); err != nil {
			panic(err) // a tool is a part of the program
		}
		h.Tools = append(h.Tools, arena.Raw(def.String()))
	}
	h.SHA256 = HarnessSHA256(h.System, h.Tools)
	return h, nil
}

func profileText(file string) string {
	text, err := profileFiles.ReadFile("profiles/" + file)
	if err != nil {
		panic(err) // likewise
	}
	return string(text)
}

// HarnessSHA256 is the hash that names a harness: any change of the prompt or
// of a tool gives another one.
func HarnessSHA256(system string, tools []arena.Raw) string {
	all := []byte(system + "\x00")
	for _, t := range tools {
		all = append(append(all, t...), '\n')
	}
	return digest.SHA256(all)
}
