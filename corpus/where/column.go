package where

import (
	"reflect"
	"strings"
	"sync"
)

// Column is a name that expressions may use.
type Column struct {
	Name string
	// Type is the type of its values: string, int64, float64, bool, or a list of strings or
	// of structures.
	Type reflect.Type
	// part and field locate the column in a Line.
	part, field int
}

// Kind returns how people read the column: "words", "number" or "flag"; empty for a list of
// structures.
func (c Column) Kind() string {
	switch c.Type.Kind() {
	case reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Bool:
		return "flag"
	case reflect.Slice:
		if c.Type.Elem().Kind() == reflect.Struct {
			return ""
		}
	default:
	}
	return "words"
}

// Of returns the value of the column in a line; nil if it is unknown.
func (c Column) Of(l *Line) any {
	row := reflect.ValueOf(l.parts()[c.part]).Elem()
	if !row.IsValid() {
		return nil
	}
	value := reflect.Indirect(row.Field(c.field))
	if !value.IsValid() {
		return nil
	}
	return value.Interface()
}

// prefixes stand before the names of columns, by part of a line.
var prefixes = [6]string{3: "judge_", 4: "leak_"}

// Columns returns the columns that expressions over a ledger may use. docs/columns.md says
// what they mean.
func Columns() []Column { return columns() }

// columns lists the columns of all tables of a ledger. Where two have one name, the first
// counts.
var columns = sync.OnceValue(func() []Column {
	var list []Column
	known := map[string]bool{}
	for part, row := range (&Line{}).parts() {
		rowType := reflect.TypeOf(row).Elem()
		for field := range rowType.NumField() {
			name := columnName(rowType.Field(field))
			if name != "judge" {
				name = prefixes[part] + name
			}
			valueType := valueType(rowType.Field(field).Type)
			if valueType == nil || known[name] {
				continue
			}
			known[name] = true
			list = append(list, Column{Name: name, Type: valueType, part: part, field: field})
		}
	}
	return list
})

func columnName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
	return name
}

// valueType returns the type of the values that a field holds; nil if expressions cannot use
// them.
func valueType(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return valueType(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct || valueType(t.Elem()) != nil {
			return t
		}
	case reflect.String, reflect.Int64, reflect.Float64, reflect.Bool:
		return t
	default:
	}
	return nil
}
