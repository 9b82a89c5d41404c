package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// TestConstantGradeIsReported holds that one grade for ten agents or more is called a failure of the
// judge, while one grade for nine, or two grades, are not.
func TestConstantGradeIsReported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		graded, ungraded int
		last             float64
		want             bool
	}{
		"ten agents":               {graded: 10, last: 0.3, want: true},
		"nine agents":              {graded: 9, last: 0.3},
		"nine of eleven":           {graded: 9, ungraded: 2, last: 0.3},
		"another grade at the end": {graded: 10, last: 0.4},
	} {
		a := NewAdder(guard.NewReport(nil))
		for i := range tt.graded + tt.ungraded {
			x := &block.Entry{Head: block.Head{Agent: fmt.Sprint("agent ", i)}}
			grade := 0.3
			if i == tt.graded-1 {
				grade = tt.last
			}
			if i < tt.graded {
				x.Score = &grade
			}
			a.Add(x, choose.Decision{})
		}
		judges := a.Judges(Judges{}, Replies{}, nil, nil, 0)
		text := judges.Warning()
		if got := strings.Contains(text, fmt.Sprintf("the same grade, 0.3, to all %d attempts of %d agents", tt.graded, tt.graded)); got != tt.want {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestModelsText checks that a model whose name is blank is still counted by a name.
func TestModelsText(t *testing.T) {
	t.Parallel()
	got := ModelsText(map[string]int64{"big": 3, " \n": 1})
	if want := `big 3, "" 1`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
