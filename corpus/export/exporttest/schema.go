package exporttest

import (
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus/shard"
)

// FingerprintOf is the fingerprint of the rows of type T.
func FingerprintOf[T any]() string { return shard.Fingerprint(parquet.SchemaOf(new(T))) }

// Columns names the top-level columns of the rows of type T, in order.
func Columns[T any]() []string {
	var out []string
	collect(reflect.TypeFor[T](), &out)
	return out
}

func collect(t reflect.Type, out *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			collect(f.Type, out)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		*out = append(*out, name)
	}
}
