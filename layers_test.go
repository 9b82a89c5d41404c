package arena_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/trajectory-arena/arena"

// layer is the distance of a top-level package from the data. A package may import lower layers and
// its own subpackages, and no others.
var layer = map[string]int{
	"": 0, "docs": 0, "internal": 1, "domain": 2,
	"traces": 3, "filters": 3, "judges": 3, "guard": 3, "shop": 3, "corpus": 3, "contest": 3,
	"pipeline": 4, "student": 4, "report": 4,
	"environment": 5,
	"cmd":         6, "bench": 6,
}

func TestImportsGoOneWay(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		importer := top(p.ImportPath)
		if _, known := layer[importer]; !known {
			t.Errorf("%s: no layer is set for %q", p.ImportPath, importer)
		}
		for _, path := range p.Imports {
			if imported := top(path); strings.HasPrefix(path, module) && imported != importer && layer[imported] >= layer[importer] {
				t.Errorf("%s imports %s: layer %d may not know layer %d", p.ImportPath, path, layer[importer], layer[imported])
			}
		}
	}
}

// inCommand has the same for the packages of the program: commands may import the packages that
// they share, and build, whose recipes play and export, may import the others.
var inCommand = map[string]int{
	"cli": 0, "instrument": 1, "audit": 2, "contest": 2, "evaluate": 2, "export": 2, "build": 3, "look": 4, "": 5,
}

func TestCommandsImportOneWay(t *testing.T) {
	t.Parallel()
	const program = module + "/cmd/arena"
	for _, p := range packages(t) {
		importer, inside := strings.CutPrefix(p.ImportPath, program)
		if !inside {
			continue
		}
		level, known := inCommand[strings.TrimPrefix(importer, "/")]
		if !known {
			t.Errorf("%s: no level is set", p.ImportPath)
		}
		for _, path := range p.Imports {
			if imported, inside := strings.CutPrefix(path, program+"/"); inside && inCommand[imported] >= level {
				t.Errorf("%s imports %s: level %d may not know level %d", p.ImportPath, path, level, inCommand[imported])
			}
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

type listed struct {
	ImportPath string
	Doc        string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	return packages
}

func top(path string) string {
	relative := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	name, _, _ := strings.Cut(relative, "/")
	return name
}
