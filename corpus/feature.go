package corpus

import (
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// FeatureType is the type of a column in the words of the datasets library:
// one of Dtype, List and Struct is set.
type FeatureType struct {
	Name   string        `json:"name,omitempty"`
	Dtype  string        `json:"dtype,omitempty"`
	List   *FeatureType  `json:"list,omitempty"`
	Struct []FeatureType `json:"struct,omitempty"`
}

// features reads the types of a schema's columns.
func features(n parquet.Node) []FeatureType {
	out := make([]FeatureType, 0, len(n.Fields()))
	for _, f := range n.Fields() {
		t := featureOf(f)
		t.Name = f.Name()
		out = append(out, t)
	}
	return out
}

func featureOf(n parquet.Node) FeatureType {
	if n.Leaf() {
		return FeatureType{Dtype: dtype(n.Type())}
	}
	if l := n.Type().LogicalType(); l != nil {
		if _, list := l.Value.(*format.ListType); list {
			element := featureOf(n.Fields()[0].Fields()[0])
			return FeatureType{List: &element}
		}
	}
	return FeatureType{Struct: features(n)}
}

func dtype(t parquet.Type) string {
	if l := t.LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.JsonType:
			return "json"
		case *format.TimestampType:
			return "timestamp[ms, tz=UTC]"
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return "bool"
	case parquet.Int32, parquet.Int64:
		return "int64"
	case parquet.Float, parquet.Double:
		return "float64"
	default:
		return "string"
	}
}

// String is the type in one line, such as list<struct<role: string>>.
func (t FeatureType) String() string {
	switch {
	case t.List != nil:
		return "list<" + t.List.String() + ">"
	case t.Struct != nil:
		fields := make([]string, len(t.Struct))
		for i, f := range t.Struct {
			fields[i] = f.Name + ": " + f.String()
		}
		return "struct<" + strings.Join(fields, ", ") + ">"
	default:
		return t.Dtype
	}
}
