package build

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/pipeline/recipe"
)

// setRecipeHelp sets the help of c so that `arena recipe NAME --help` prints the help of the recipe
// NAME. All other help remains that of the root command.
func setRecipeHelp(c *cobra.Command) {
	c.SetHelpFunc(func(called *cobra.Command, args []string) {
		names := called.Flags().Args()
		if called == c && len(names) == 1 {
			if r, err := recipe.Named(names[0]); err == nil {
				fmt.Fprint(called.OutOrStdout(), recipeHelp(r))
				return
			}
		}
		called.Root().HelpFunc()(called, args)
	})
}

// recipeHelp returns the help of one recipe (a way to make training data for one stage of
// training): what it needs, what it makes, and an example.
func recipeHelp(r recipe.Recipe) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Recipe %s: %s.\n", r.Name, r.Doc)

	b.WriteString("\nNeeds:\n")
	b.WriteString("  --corpus   a corpus that `arena build` or `arena mix` made\n")
	if r.Rollouts != recipe.Never {
		rollouts := "rollouts"
		if r.Rollouts == recipe.Optional {
			rollouts = "optional: rollouts; without them the corpus's own attempts are taken"
		}
		fmt.Fprintf(&b, "  --run      %s, a run of `arena eval` or the OUT.work/run of another recipe;\n", rollouts)
		b.WriteString("             or --endpoint and --model, the student that plays them now\n")
		b.WriteString("  --catalog  the catalogue of the problems, if there are rollouts\n")
	}
	if r.Teacher {
		b.WriteString("  --teacher  a run of the teacher at the same problems\n")
	}

	fmt.Fprintf(&b, "\nMakes:\n  -o OUT     a corpus of the train split, chosen from rows of profile %s and written\n", r.Profile)
	b.WriteString("             in every export profile that they go into, with reports/recipe.json\n")

	b.WriteString("\nExamples:\n  arena build testdata/day -o out\n")
	b.WriteString(recipeExample(r))
	b.WriteString("\n`arena recipe --help` lists all recipes and flags.\n")
	return b.String()
}

const (
	catalogExample = "--catalog testdata/day/catalog.jsonl"
	serveExample   = "  serve='go run ./bench/modelserver -day testdata/day -listen 127.0.0.1:8000'   # needs no model\n"
)

// recipeExample returns command lines that run a recipe on the data of folder testdata, after the
// corpus was built.
func recipeExample(r recipe.Recipe) string {
	switch {
	case r.Rollouts != recipe.Always:
		return fmt.Sprintf("  arena recipe %s --corpus out -o stage\n", r.Name)
	case r.Teacher:
		return serveExample + playExample("rft", "student", "", "rft") +
			playExample("teacher", "teacher", " -solves 1", "teacher") +
			fmt.Sprintf("  arena recipe %s --corpus out %s \\\n    --run rft.work/run --teacher teacher.work/run -o stage\n", r.Name, catalogExample)
	case r.Name == "teacher":
		return serveExample + playExample(r.Name, "teacher", " -solves 1", "stage")
	default:
		return serveExample + playExample(r.Name, "student", "", "stage")
	}
}

// playExample returns an example command line of a recipe that needs rollouts: the recipe starts a
// model server for model, plays the problems and writes its data to out. serverFlags are further
// flags of the server.
func playExample(name, model, serverFlags, out string) string {
	samples := ""
	if model == "student" {
		samples = " -k 4"
	}
	return fmt.Sprintf("  arena recipe %s --corpus out %s --serve \"$serve%s\" \\\n"+
		"    --endpoint http://127.0.0.1:8000/v1 --model %s%s -o %s\n", name, catalogExample, serverFlags, model, samples, out)
}
