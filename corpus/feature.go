package corpus

import (
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Column is a column of a Parquet file with its type in the words of the datasets
// library, such as list<struct<role: string>>.
type Column struct{ Name, Type string }

func columnsOf(n parquet.Node) []Column {
	out := make([]Column, 0, len(n.Fields()))
	for _, f := range n.Fields() {
		out = append(out, Column{f.Name(), typeOf(f)})
	}
	return out
}

func typeOf(n parquet.Node) string {
	if n.Leaf() {
		return dtype(n.Type())
	}
	if l := n.Type().LogicalType(); l != nil {
		if _, list := l.Value.(*format.ListType); list {
			return "list<" + typeOf(n.Fields()[0].Fields()[0]) + ">"
		}
	}
	var inner []string
	for _, c := range columnsOf(n) {
		inner = append(inner, c.Name+": "+c.Type)
	}
	return "struct<" + strings.Join(inner, ", ") + ">"
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
