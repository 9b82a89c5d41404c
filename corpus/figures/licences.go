package figures

import "regexp"

// licences maps the names of models to the licence that the publisher of their weights names. It
// holds what was read in the publisher's own repository, at the commit given; every other model,
// also one that was trained further, has no known licence.
var licences = []struct {
	names   *regexp.Regexp
	licence string
}{
	// QwenLM/Qwen3, README.md at 7a2f61f.
	{regexp.MustCompile(`(?i)^(qwen/)?qwen3-(0\.6b|1\.7b|4b|8b|14b|32b|30b-a3b|235b-a22b)(-(instruct|thinking)-2507)?(-fp8)?$`), "Apache-2.0"},
	// zai-org/GLM-4.5, README.md at 170f20b.
	{regexp.MustCompile(`(?i)^(zai-org/)?glm-4\.5(-air)?(-base|-fp8)?$`), "MIT"},
	// MoonshotAI/Kimi-K2, README.md at c6157be.
	{regexp.MustCompile(`(?i)^(moonshotai/)?kimi-k2-(base|instruct)$`), "Modified MIT"},
	// openai/gpt-oss, README.md at 7b58334.
	{regexp.MustCompile(`(?i)^(openai/)?gpt-oss-(20b|120b)$`), "Apache-2.0"},
	// deepseek-ai/DeepSeek-R1, README.md at 0cf7856.
	{regexp.MustCompile(`(?i)^(deepseek-ai/)?deepseek-r1(-zero)?$`), "MIT"},
}

// licenceNote is a sentence on the dataset card, below the table of the licences of the models'
// weights.
const licenceNote = "\nThe licence is that of the model's weights, as their publisher's repository states it. Whether it also applies to texts that the model wrote is not decided here. \"Not known\" is no permission.\n"

// licenceOf returns the licence of the weights of a model, Unknown for a model that is not in the
// table licences, and "" for an empty name.
func licenceOf(model string) string {
	if model == "" {
		return ""
	}
	for _, l := range licences {
		if l.names.MatchString(model) {
			return l.licence
		}
	}
	return Unknown
}
