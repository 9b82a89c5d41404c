package habits

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fill sets every field of v, so that a field that is not packed is found.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "_" {
				fill(r, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(4), 4))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("agentic")
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	default:
		v.SetInt(int64(r.IntN(1<<40)) - 1<<20)
	}
}

func samplesOf(n int) []*Sample {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]*Sample, n)
	for i := range out {
		out[i] = &Sample{}
		fill(r, reflect.ValueOf(out[i]).Elem())
	}
	return out
}

func TestPackedSamplesAreTheSame(t *testing.T) {
	t.Parallel()
	want := append(samplesOf(20), &Sample{})
	var packed []byte
	for _, s := range want {
		packed = s.Append(packed)
	}
	u := NewUnpacker(packed)
	reused := &Sample{}
	for i, s := range want[:20] {
		u.Sample(reused)
		if diff := cmp.Diff(s, reused, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == "._" }, cmp.Ignore())); diff != "" {
			t.Fatalf("sample %d: %s", i, diff)
		}
	}
	u.Sample(reused)
	if u.More() || u.Err() != nil || len(reused.Replies)+len(reused.Marks)+len(reused.Tallies) > 0 || reused.Evidence {
		t.Errorf("the empty sample is %+v, %v", reused, u.Err())
	}
	for n := range len(packed) - 1 {
		u := NewUnpacker(packed[:n])
		for range want {
			u.Sample(reused)
		}
		if !errors.Is(u.Err(), ErrPacked) {
			t.Fatalf("%d of %d bytes: %v", n, len(packed), u.Err())
		}
		if u.Sample(reused); reused.Evidence || reused.Silent || reused.Begun != 0 || len(reused.Tallies) > 0 {
			t.Fatalf("%d of %d bytes: after the error a sample is %+v", n, len(packed), reused)
		}
	}
	short := NewUnpacker([]byte{2, 2})
	f := short.Float()
	i := short.Int()
	n := short.length(1)
	if f != 0 || i != 0 || n != 0 {
		t.Errorf("a float that fails, then %v and %v", i, n)
	}
}

// TestOddsAreTheSameWithoutSingleReplies compares an index of all replies and dialogues with one of
// those that several attempts share.
func TestOddsAreTheSameWithoutSingleReplies(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	samples := samplesOf(400)
	for _, s := range samples {
		for i := range s.Replies {
			s.Replies[i] = r.Uint64N(300)
		}
		s.Begun = r.Int64N(4) * 1000
		s.Dialogue = r.Uint64N(150)
		for i := range s.Taken {
			s.Taken[i] = r.Uint64N(2000)
		}
		for i := range s.Unseen {
			s.Unseen[i] = r.Uint64N(2000)
		}
		s.Open = Open{}
		for i := range s.Tallies {
			s.Tallies[i] = Ratio{Part: r.IntN(3), Whole: 3}
		}
		for len(s.Tallies) < len(ratioCounts) {
			s.Tallies = append(s.Tallies, Ratio{})
		}
		s.Tallies = s.Tallies[:len(ratioCounts)]
		s.Marks = make([][]Mark, len(modeCounts))
	}
	names := []string{"a", "b", "c", "d"}
	type counted struct {
		Trait
		counts bool
	}
	var traits []counted
	single := NewIndex()
	for i, s := range samples {
		isCopy := i%7 == 0
		if !isCopy {
			single.Add(s, names[i%4])
		}
		for _, t := range s.Traits(names[i%4]) {
			traits = append(traits, counted{t, !isCopy})
		}
	}
	repeated := NewIndex()
	for half := range uint64(2) { // as two parts, packed
		shared := SharedOf(func(yield func(Trait, bool) bool) {
			for _, t := range traits {
				if t.hash%2 == half && !yield(t.Trait, t.counts) {
					return
				}
			}
		})
		NewUnpacker(shared.Append(nil)).Index(repeated)
	}
	marked := uint64(0)
	for k, name := range names {
		var ownSamples []*Sample
		for i, s := range samples {
			if i%4 == k {
				ownSamples = append(ownSamples, s)
			}
		}
		want := NewAgent(name, slices.Values(ownSamples), single, 5)
		got := NewAgent(name, slices.Values(ownSamples), repeated, 5)
		for _, s := range ownSamples {
			if want.Odds(s) != got.Odds(s) {
				t.Fatalf("%s: %+v, want %+v", name, got.Odds(s), want.Odds(s))
			}
			marked |= want.Odds(s).Mask
		}
	}
	if marked == 0 || len(repeated.replies) >= len(single.replies) || len(repeated.dialogues) >= len(single.dialogues) || len(repeated.items) >= len(single.items) || len(repeated.items) == 0 {
		t.Errorf("proofs %b; %d of %d replies, %d of %d items stored: the test shows nothing", marked, len(repeated.replies), len(single.replies), len(repeated.items), len(single.items))
	}
}
