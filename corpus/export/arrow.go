package export

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// arrowBatch is the input of one record batch: what a reader maps at a time.
// arrowRoom has place for its last row too, as a rule.
const (
	arrowBatch = 16 << 20
	arrowRoom  = arrowBatch + arrowBatch/8
)

// arrowSchema holds the text rows: every version of datasets maps them.
func arrowSchema() *arrow.Schema {
	s := arrow.BinaryTypes.String
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	msg := arrow.StructOf(field("role", s), field("content", s))
	return arrow.NewSchema([]arrow.Field{field("messages", arrow.ListOf(msg)), field("session_id", s), field("harness", s), field("task_type", s),
		field("reward", arrow.PrimitiveTypes.Float64), field("n_tokens", arrow.PrimitiveTypes.Int64), field("problem_id", s), field("dedup_cluster", s)}, nil)
}

// arrowSink writes one split as datasets' save_to_disk does: Arrow streams and
// two JSON files that describe them.
type arrowSink struct {
	job   *job
	split string
	build *array.RecordBuilder
	file  corpus.Place
	out   *ipc.Writer
	size  int64
	names []string
}

func openArrow(j *job, split string) (sink, error) {
	return &arrowSink{job: j, split: split, build: array.NewRecordBuilder(memory.DefaultAllocator, arrowSchema())}, nil
}

func (s *arrowSink) take(rows []row) error { return s.job.count.each(rows, s.add) }

func (s *arrowSink) add(r *row) error {
	made, err := text(r)
	if err != nil {
		return err
	}
	s.append(&made[0])
	s.job.count.Rows++
	if s.size < arrowBatch {
		return nil
	}
	return s.flush()
}

func (s *arrowSink) append(t *rows.Text) {
	list := s.build.Field(0).(*array.ListBuilder)
	msg := list.ValueBuilder().(*array.StructBuilder)
	role, content := msg.FieldBuilder(0).(*array.StringBuilder), msg.FieldBuilder(1).(*array.StringBuilder)
	if s.size == 0 {
		content.ReserveData(arrowRoom)
	}
	list.Append(true)
	for _, m := range t.Messages {
		msg.Append(true)
		role.Append(m.Role)
		content.Append(m.Content)
		s.size += int64(len(m.Role) + len(m.Content) + 8)
	}
	for i, v := range map[int]string{1: t.SessionID, 2: t.Harness, 3: t.TaskType, 6: t.ProblemID, 7: t.Cluster} {
		s.build.Field(i).(*array.StringBuilder).Append(v)
	}
	s.build.Field(4).(*array.Float64Builder).Append(t.Reward)
	s.build.Field(5).(*array.Int64Builder).Append(t.NTokens)
}

func (s *arrowSink) flush() error {
	if s.out == nil {
		if err := s.next(); err != nil {
			return err
		}
	}
	rec := s.build.NewRecordBatch()
	defer rec.Release()
	s.size = 0
	if err := s.out.Write(rec); err != nil {
		return fmt.Errorf("write arrow batch: %w", err)
	}
	if s.file.N > corpus.DefaultLimits.Shard-2*arrowBatch {
		return s.finish()
	}
	return nil
}

func (s *arrowSink) next() error {
	name := fmt.Sprintf("data-%05d.arrow", len(s.names))
	f, err := corpus.NewPlace(s.job.part, "arrow/"+s.split+"/"+name)
	if err != nil {
		return err
	}
	s.names = append(s.names, name)
	s.file, s.out = f, ipc.NewWriter(f, ipc.WithSchema(s.build.Schema()))
	return nil
}

func (s *arrowSink) finish() error {
	if err := s.out.Close(); err != nil {
		return fmt.Errorf("write arrow file: %w", err)
	}
	s.out = nil
	return s.file.Close()
}

func (s *arrowSink) close(context.Context) error {
	defer s.build.Release()
	var err error
	if s.size > 0 {
		err = s.flush()
	}
	if err == nil && s.out != nil {
		err = s.finish()
	}
	if err != nil || len(s.names) == 0 {
		return err
	}
	// state.json and dataset_info.json describe the split
	files := slicesx.Map(s.names, func(n string) map[string]string { return map[string]string{"filename": n} })
	state := asjson.Indented(map[string]any{"_data_files": files, "_fingerprint": s.job.feed.from.ConfigurationSHA256, "_format_columns": nil,
		"_format_kwargs": map[string]any{}, "_format_type": nil, "_output_all_columns": false, "_split": s.split}, "  ")
	info := asjson.Indented(map[string]any{"citation": "", "description": "", "homepage": "", "license": "", "features": json.RawMessage(arrowFeatures)}, "  ")
	dir := "arrow/" + s.split + "/"
	return s.job.files(map[string][]byte{dir + "state.json": state, dir + "dataset_info.json": info})
}

// arrowFeatures are the columns in the words of datasets.
const arrowFeatures = `{"dedup_cluster": {"_type": "Value", "dtype": "string"}, "harness": {"_type": "Value", "dtype": "string"},
"messages": {"_type": "List", "feature": {"content": {"_type": "Value", "dtype": "string"}, "role": {"_type": "Value", "dtype": "string"}}},
"n_tokens": {"_type": "Value", "dtype": "int64"}, "problem_id": {"_type": "Value", "dtype": "string"}, "reward": {"_type": "Value", "dtype": "float64"},
"session_id": {"_type": "Value", "dtype": "string"}, "task_type": {"_type": "Value", "dtype": "string"}}`

// arrowDict names the splits that have rows.
func (j *job) arrowDict() error {
	return j.files(map[string][]byte{"arrow/dataset_dict.json": asjson.Bytes(map[string]any{"splits": j.splits()})})
}
