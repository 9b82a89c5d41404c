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

// arrowBatchBytes is the size in bytes at which a record batch, the unit that readers map into
// memory, is written. arrowReserveBytes is the memory reserved for a batch. It is larger, because
// the last row of a batch usually exceeds the size.
const (
	arrowBatchBytes   = 16 << 20
	arrowReserveBytes = arrowBatchBytes + arrowBatchBytes/8
)

// The columns of arrowSchema.
const (
	arrowMessages = iota
	arrowSessionID
	arrowHarness
	arrowTaskType
	arrowReward
	arrowNTokens
	arrowProblemID
	arrowCluster
)

// arrowSchema returns the schema of the rows of profile arrow. Its types are supported by every
// version of the datasets library.
func arrowSchema() *arrow.Schema {
	text := arrow.BinaryTypes.String
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	message := arrow.StructOf(field("role", text), field("content", text))
	return arrow.NewSchema([]arrow.Field{
		arrowMessages:  field("messages", arrow.ListOf(message)),
		arrowSessionID: field("session_id", text),
		arrowHarness:   field("harness", text),
		arrowTaskType:  field("task_type", text),
		arrowReward:    field("reward", arrow.PrimitiveTypes.Float64),
		arrowNTokens:   field("n_tokens", arrow.PrimitiveTypes.Int64),
		arrowProblemID: field("problem_id", text),
		arrowCluster:   field("dedup_cluster", text),
	}, nil)
}

// arrowSink writes a split in the layout of save_to_disk of the datasets library: Arrow streams,
// and two JSON files that describe them.
type arrowSink struct {
	job     *job
	split   string
	builder *array.RecordBuilder
	file    corpus.Place
	writer  *ipc.Writer // of file, nil if none is open
	size    int64       // of the open batch, in bytes
	names   []string    // of all files
}

func openArrow(j *job, split string) (sink, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrowSchema())
	return &arrowSink{job: j, split: split, builder: builder}, nil
}

func (s *arrowSink) write(batch []row) error { return s.job.count.addRows(batch, s.add) }

func (s *arrowSink) add(r *row) error {
	texts, err := convertText(r)
	if err != nil {
		return err
	}
	s.append(&texts[0])
	s.job.count.Rows++
	if s.size < arrowBatchBytes {
		return nil
	}
	return s.flush()
}

func (s *arrowSink) append(t *rows.Text) {
	messages := s.builder.Field(arrowMessages).(*array.ListBuilder)
	message := messages.ValueBuilder().(*array.StructBuilder)
	role := message.FieldBuilder(0).(*array.StringBuilder)
	content := message.FieldBuilder(1).(*array.StringBuilder)
	if s.size == 0 {
		content.ReserveData(arrowReserveBytes)
	}
	messages.Append(true)
	for _, m := range t.Messages {
		message.Append(true)
		role.Append(m.Role)
		content.Append(m.Content)
		s.size += int64(len(m.Role) + len(m.Content) + 8)
	}
	s.appendText(arrowSessionID, t.SessionID)
	s.appendText(arrowHarness, t.Harness)
	s.appendText(arrowTaskType, t.TaskType)
	s.builder.Field(arrowReward).(*array.Float64Builder).Append(t.Reward)
	s.builder.Field(arrowNTokens).(*array.Int64Builder).Append(t.NTokens)
	s.appendText(arrowProblemID, t.ProblemID)
	s.appendText(arrowCluster, t.Cluster)
}

func (s *arrowSink) appendText(column int, text string) {
	s.builder.Field(column).(*array.StringBuilder).Append(text)
}

// flush writes the rows collected so far as a record batch. It closes the file if two more
// batches might exceed the maximum file size.
func (s *arrowSink) flush() error {
	if s.writer == nil {
		if err := s.openFile(); err != nil {
			return err
		}
	}
	rec := s.builder.NewRecordBatch()
	defer rec.Release()
	s.size = 0
	if err := s.writer.Write(rec); err != nil {
		return fmt.Errorf("write arrow batch: %w", err)
	}
	if s.file.Size() > corpus.DefaultLimits.Shard-2*arrowBatchBytes {
		return s.closeFile()
	}
	return nil
}

func (s *arrowSink) openFile() error {
	name := fmt.Sprintf("data-%05d.arrow", len(s.names))
	f, err := corpus.NewPlace(s.job.part, "arrow/"+s.split+"/"+name)
	if err != nil {
		return err
	}
	s.names = append(s.names, name)
	s.file = f
	s.writer = ipc.NewWriter(f, ipc.WithSchema(s.builder.Schema()))
	return nil
}

func (s *arrowSink) closeFile() error {
	if err := s.writer.Close(); err != nil {
		return fmt.Errorf("write arrow file: %w", err)
	}
	s.writer = nil
	return s.file.Close()
}

func (s *arrowSink) close(context.Context) error {
	defer s.builder.Release()
	if s.size > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.writer != nil {
		if err := s.closeFile(); err != nil {
			return err
		}
	}
	if len(s.names) == 0 {
		return nil
	}
	return s.writeMetadata()
}

// writeMetadata writes state.json and dataset_info.json, in which the datasets library finds the
// split's files and columns.
func (s *arrowSink) writeMetadata() error {
	files := slicesx.Map(s.names, func(name string) map[string]string {
		return map[string]string{"filename": name}
	})
	state := map[string]any{
		"_data_files":         files,
		"_fingerprint":        s.job.feed.manifest.ConfigurationSHA256,
		"_format_columns":     nil,
		"_format_kwargs":      map[string]any{},
		"_format_type":        nil,
		"_output_all_columns": false,
		"_split":              s.split,
	}
	info := map[string]any{
		"citation":    "",
		"description": "",
		"homepage":    "",
		"license":     "",
		"features":    json.RawMessage(arrowFeatures),
	}
	dir := "arrow/" + s.split + "/"
	return s.job.writeFiles(map[string][]byte{
		dir + "state.json":        asjson.Indented(state, "  "),
		dir + "dataset_info.json": asjson.Indented(info, "  "),
	})
}

// arrowFeatures is the description of the columns of profile arrow that the datasets library reads
// from dataset_info.json, as JSON.
const arrowFeatures = `{"dedup_cluster": {"_type": "Value", "dtype": "string"}, "harness": {"_type": "Value", "dtype": "string"},
"messages": {"_type": "List", "feature": {"content": {"_type": "Value", "dtype": "string"}, "role": {"_type": "Value", "dtype": "string"}}},
"n_tokens": {"_type": "Value", "dtype": "int64"}, "problem_id": {"_type": "Value", "dtype": "string"}, "reward": {"_type": "Value", "dtype": "float64"},
"session_id": {"_type": "Value", "dtype": "string"}, "task_type": {"_type": "Value", "dtype": "string"}}`

// writeArrowDict writes dataset_dict.json, the list of the splits that have rows.
func (j *job) writeArrowDict() error {
	dict := asjson.Bytes(map[string]any{"splits": j.splits()})
	return j.writeFiles(map[string][]byte{"arrow/dataset_dict.json": dict})
}
