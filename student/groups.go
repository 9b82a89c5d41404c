package student

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/student/foreign"
)

// groups maps the ids of problems to the numbers of their groups. Problems of one group resemble
// each other, so that results at them are not independent. Nil means that each problem is a group
// of its own.
type groups map[string]int

// Groups returns the groups of the problems: two are in one group if they share a gold product or a
// request, reworded or not, or one of foreign.GroupKeys. If all of them would be one group, nothing is
// known of how groups differ, and Groups returns nil.
func (p Problems) Groups(ctx context.Context) (map[string]int, error) {
	list, err := guard.Groups(ctx, p.All, declaredGroups)
	if err != nil {
		return nil, err
	}
	out := groups{}
	different := map[int]bool{}
	for i, group := range list {
		out[p.IDs[i]] = group
		different[group] = true
	}
	if len(different) < 2 {
		return nil, nil
	}
	return out, nil
}

func declaredGroups(p *arena.Problem) (keys []string) {
	for _, key := range foreign.GroupKeys {
		if v := gjson.Get(string(p.Raw), key); v.Type == gjson.String || v.Type == gjson.Number {
			keys = append(keys, key+" "+v.String())
		}
	}
	return keys
}

// ReadGroups returns the groups of the problems of a finished run; nil if the folder has no problems.
func ReadGroups(ctx context.Context, folder string) (map[string]int, error) {
	if spec, err := ReadSpec(folder); err == nil && spec.Source != "" {
		return readForeignGroups(folder)
	}
	p, err := ReadProblems(filepath.Join(folder, problemsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return p.Groups(ctx)
}

// of returns the group number of each id in ids, nil if each problem is a group of its own.
func (g groups) of(ids []string) []int {
	if g == nil {
		return nil
	}
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = g[id]
	}
	return list
}
