package dice

import "testing"

// TestStreamIsFixed pins the first numbers: every generated day and every
// interval depends on them.
func TestStreamIsFixed(t *testing.T) {
	t.Parallel()
	d := New(1, 2)
	for i, want := range []uint64{8521371246727811731, 17564698128960260683, 16649790085669076522} {
		if got := d.Next(); got != want {
			t.Errorf("number %d is %d, was %d", i, got, want)
		}
	}
	if New(1, 2).Next() == New(2, 1).Next() || New().Next() == New(0).Next() {
		t.Error("different seeds give one stream")
	}
}

// TestNumbersAreEven counts 100,000 numbers in ten bins: each holds a tenth
// within five standard deviations (95 of 10,000).
func TestNumbersAreEven(t *testing.T) {
	t.Parallel()
	var byN, byShare [10]int
	d := New(7)
	for range 100_000 {
		byN[d.N(10)]++
		byShare[int(d.Share()*10)]++
	}
	for i := range 10 {
		for _, n := range []int{byN[i], byShare[i]} {
			if n < 10_000-475 || n > 10_000+475 {
				t.Errorf("bin %d holds %d of 100000", i, n)
			}
		}
	}
}
