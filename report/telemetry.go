package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
)

// Telemetry is what the machine did in a run: its server, its cost, and how
// both went over time.
type Telemetry struct {
	account map[string]json.RawMessage
	series  []moment
}

// moment is a line of telemetry.jsonl.
type moment struct {
	Seconds  float64            `json:"seconds"`
	Rollouts float64            `json:"rollouts"`
	Server   map[string]float64 `json:"server"`
	GPUs     []struct {
		Index  int      `json:"index"`
		Use    *float64 `json:"use"`
		Memory *float64 `json:"memory_mib"`
		Power  *float64 `json:"power_w"`
	} `json:"gpus"`
}

// maxMoments bounds the points of a plot, and with them the page: more than
// its width in pixels cannot be seen.
const maxMoments = 600

// maxMoment bounds one line: machines of many servers and GPUs fill some
// kilobytes.
const maxMoment = 1 << 20

// ReadTelemetry reads what a run's folder holds of it.
func ReadTelemetry(folder string) (*Telemetry, error) {
	t := &Telemetry{}
	if err := readJSON(folder, "telemetry.json", &t.account); err != nil {
		return nil, err
	}
	return t, t.readSeries(filepath.Join(folder, "telemetry.jsonl"))
}

// readSeries reads the moments of all commands one behind the other, and keeps
// every second one whenever there are too many.
func (t *Telemetry) readSeries(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read telemetry: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxMoment)
	before, last, every := 0.0, 0.0, 1
	for i := 0; lines.Scan(); i++ {
		var m moment
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue // cut off by the end of a process
		}
		if m.Seconds < last {
			before += last
		}
		last = m.Seconds
		m.Seconds += before
		if i%every == 0 {
			t.series = append(t.series, m)
		}
		if len(t.series) == 2*maxMoments {
			every *= 2
			t.series = thinned(t.series)
		}
	}
	return lines.Err()
}

func thinned(all []moment) []moment {
	for i := range len(all) / 2 {
		all[i] = all[2*i]
	}
	return slices.Clip(all[:len(all)/2])
}

// Page lays it out.
func (t *Telemetry) Page() (*Page, error) {
	p := &Page{Title: "Server, machine and cost"}
	for _, part := range []struct{ field, heading, note string }{
		{"cost", "Cost", "GPU seconds count each GPU of this machine that the server could use, busy or not. Unknown is what nobody told or priced."},
		{"usage", "Use", "Over all commands that worked on the run."},
		{"servers", "Servers", "What the servers say of themselves."},
		{"gpus", "GPUs", ""},
	} {
		if raw, told := t.account[part.field]; told {
			p.Sections = append(p.Sections, fieldTable(part.heading, part.note, raw))
		}
	}
	over, err := t.overTime()
	if err != nil {
		return nil, err
	}
	p.Sections = append(p.Sections, over)
	return p, nil
}

// fieldTable shows any JSON as a table of its leaves.
func fieldTable(heading, note string, raw json.RawMessage) Section {
	s := Section{Heading: heading, Note: note, Columns: []string{"field", "value"}}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		s.addLeaves("", v)
	}
	return s
}

func (s *Section) addLeaves(name string, v any) {
	under := func(key string) string {
		if name == "" {
			return key
		}
		return name + "." + key
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.addLeaves(under(key), v[key])
		}
	case []any:
		for i, e := range v {
			s.addLeaves(under(strconv.Itoa(i)), e)
		}
	case float64:
		s.row(nil, name, figures(v))
	case nil:
		s.row(nil, name, "unknown")
	default:
		s.row(nil, name, v)
	}
}

// figures writes a number with as many as a reader compares: whole numbers have
// all of theirs.
func figures(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// overTime draws what was told at least twice.
func (t *Telemetry) overTime() (Section, error) {
	s := Section{Heading: "Over time", Note: "Seconds of all commands, one behind the other; a fall of the finished rollouts is where a run was resumed."}
	server := func(key string, scale float64) plotter.XYs {
		return t.line(func(m moment) *float64 {
			v, told := m.Server[key]
			if !told {
				return nil
			}
			return times(&v, scale)
		})
	}
	colours := []color.Color{blue, orange, grey}
	plots := []struct {
		unit, caption string
		curves        []curve
	}{
		{"rollouts", "finished rollouts", []curve{{"rollouts", t.line(func(m moment) *float64 { return &m.Rollouts }), blue, false}}},
		{"requests", "requests that the servers run and keep waiting", []curve{{"running", server("running", 1), blue, false}, {"waiting", server("waiting", 1), orange, false}}},
		{"%", "KV cache in use, and prompt tokens found in the prefix cache", []curve{{"KV cache", server("kv_cache_use", 100), blue, false}, {"prefix hits", server("prefix_hit_rate", 100), orange, false}}},
		{"%", "use of each GPU", t.gpuCurves(colours, func(m moment, i int) *float64 { return times(m.GPUs[i].Use, 100) })},
		{"GiB", "memory of each GPU", t.gpuCurves(colours, func(m moment, i int) *float64 { return times(m.GPUs[i].Memory, 1.0/1024) })},
		{"W", "power of each GPU", t.gpuCurves(colours, func(m moment, i int) *float64 { return m.GPUs[i].Power })},
	}
	for _, d := range plots {
		if !slices.ContainsFunc(d.curves, func(c curve) bool { return len(c.points) > 1 }) {
			continue
		}
		p := newPlot("seconds", d.unit)
		p.Y.Min = 0
		if err := addCurves(p, d.curves...); err != nil {
			return s, err
		}
		f, err := figure(p, d.caption)
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, f)
	}
	return s, nil
}

// maxDrawn bounds what a server says of itself: the room that a plot leaves
// around its values is no number any more beside the largest floats.
const maxDrawn = 1e15

// line is a value over time, where it is told.
func (t *Telemetry) line(value func(moment) *float64) (points plotter.XYs) {
	for _, m := range t.series {
		if v := value(m); v != nil && math.Abs(*v) < maxDrawn && math.Abs(m.Seconds) < maxDrawn {
			points = append(points, plotter.XY{X: m.Seconds, Y: *v})
		}
	}
	return points
}

// gpuCurves are a value of each GPU, by its place in the driver's list.
func (t *Telemetry) gpuCurves(colours []color.Color, value func(m moment, i int) *float64) (curves []curve) {
	most := 0
	for _, m := range t.series {
		most = max(most, len(m.GPUs))
	}
	for i := range most {
		curves = append(curves, curve{"GPU " + strconv.Itoa(i), t.line(func(m moment) *float64 {
			if i >= len(m.GPUs) {
				return nil
			}
			return value(m, i)
		}), colours[i%len(colours)], false})
	}
	return curves
}

func times(v *float64, scale float64) *float64 {
	if v == nil {
		return nil
	}
	product := *v * scale
	return &product
}
