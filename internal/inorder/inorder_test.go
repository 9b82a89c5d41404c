package inorder_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/internal/inorder"
)

// numbers emits 0 to n-1, each of the same weight.
func numbers(n int, weight int64) func(context.Context, func(int, int64) error) error {
	return func(_ context.Context, emit func(int, int64) error) error {
		for i := range n {
			if err := emit(i, weight); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestResultsAreInTheOrderOfTheValues works longest on the first values.
func TestResultsAreInTheOrderOfTheValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{1, 2, 7} {
			var got, want []int
			s := inorder.Stream[int, int]{Workers: workers, MaxWeight: 5, Read: numbers(20, 1),
				Work: func(_ context.Context, n int) (int, error) {
					time.Sleep(time.Duration(20-n) * time.Second)
					return n * n, nil
				},
				Take: func(n int) error { got = append(got, n); return nil }}
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for n := range 20 {
				want = append(want, n*n)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d workers: %v", workers, got)
			}
		}
	})
}

// TestWhatIsUnderWayIsBounded counts the values between Read and Take: those of weight 2 within a
// limit of 6, those heavier than the limit one at a time.
func TestWhatIsUnderWayIsBounded(t *testing.T) {
	t.Parallel()
	for weight, limit := range map[int64]int64{2: 3, 100: 1} {
		synctest.Test(t, func(t *testing.T) {
			var lock sync.Mutex
			var under, seen int64
			count := func(step int64) {
				lock.Lock()
				defer lock.Unlock()
				under += step
				seen = max(seen, under)
			}
			s := inorder.Stream[int, int]{Workers: 8, MaxWeight: 6, Read: numbers(40, weight),
				Work: func(_ context.Context, n int) (int, error) {
					count(1)
					time.Sleep(time.Second)
					return n, nil
				},
				Take: func(int) error { count(-1); return nil }}
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if seen != limit {
				t.Errorf("%d values of weight %d were under way, want %d", seen, weight, limit)
			}
		})
	}
}

var errWork, errTake, errRead = errors.New("work"), errors.New("take"), errors.New("read")

// TestTheFirstErrorEndsIt checks that of several errors the one of the first value is returned, in
// any order of their occurrence.
func TestTheFirstErrorEndsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bad  func(context.Context, int) (int, error)
		take error
		read error
		want error
	}{
		"work": {bad: func(_ context.Context, n int) (int, error) {
			switch n {
			case 3:
				time.Sleep(time.Hour)
				return 0, errWork
			case 4:
				return 0, errors.New("a later value")
			default:
				return n, nil
			}
		}, want: errWork},
		"take": {take: errTake, want: errTake},
		"read": {read: errRead, want: errRead},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := inorder.Stream[int, int]{Workers: 4, MaxWeight: 8, Read: numbers(1000, 1),
				Work: func(_ context.Context, n int) (int, error) { return n, nil },
				Take: func(int) error { return c.take }}
			if c.bad != nil {
				s.Work = c.bad
			}
			if c.read != nil {
				s.Read = func(context.Context, func(int, int64) error) error { return c.read }
			}
			if err := s.Run(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("%s: error is %v, want %v", name, err, c.want)
			}
		})
	}
}

// TestCancelledItEnds cancels while no result can be taken.
func TestCancelledItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := inorder.Stream[int, int]{Workers: 2, MaxWeight: 3, Read: numbers(1000, 1),
			Work: func(_ context.Context, n int) (int, error) { cancel(); return n, nil },
			Take: func(int) error { <-ctx.Done(); return nil }}
		if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}

// TestAfterAnErrorNothingIsRead checks that a reader stops after an error, even if the first value,
// which precedes the failed one, takes long.
func TestAfterAnErrorNothingIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int64
		s := inorder.Stream[int, int]{Workers: 2, MaxWeight: 1000, Read: numbers(1000, 1),
			Work: func(_ context.Context, n int) (int, error) {
				started.Add(1)
				if n == 0 {
					time.Sleep(time.Hour)
					return n, nil
				}
				return 0, errWork
			},
			Take: func(int) error { return nil }}
		if err := s.Run(t.Context()); !errors.Is(err, errWork) || started.Load() > 3 {
			t.Errorf("%d values were begun, the error is %v", started.Load(), err)
		}
	})
}

// TestNoMoreWorkersThanValues asks for more workers than could be started before the test ends.
func TestNoMoreWorkersThanValues(t *testing.T) {
	t.Parallel()
	err := inorder.List(t.Context(), 1<<40, []int{1, 2}, func(_ context.Context, n int) (int, error) {
		return n, nil
	}, func(int) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
