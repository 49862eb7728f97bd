package load

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func joining(name string) func() (string, error) {
	return func() (string, error) { return name, nil }
}

func TestRosterKnowsItsMembers(t *testing.T) {
	r := NewRoster[string](3)
	none := func(string) error { return nil }
	late := func(string) error { return errors.New("late") }
	for _, c := range []struct {
		name string
		do   func() error
		says string // "": no error
		left string
	}{
		{"join", func() error { return r.Join(1, joining("b")) }, "", "b"},
		{"join below", func() error { return r.Join(0, joining("a")) }, "", "a b"},
		{"a place that is taken", func() error { return r.Join(1, joining("c")) },
			"consumer 1 is there already", "a b"},
		{"beyond the numbers", func() error { return r.Join(3, joining("c")) },
			"consumer 3: the numbers are 0 to 2", "a b"},
		{"below the numbers", func() error { return r.With(-1, none) }, "consumer -1: the numbers are 0 to 2", "a b"},
		{"an opening that fails", func() error {
			return r.Join(2, func() (string, error) { return "c", errors.New("refused") })
		}, "refused", "a b"},
		{"leave", func() error { return r.Leave(1, none) }, "", "a"},
		{"leave again", func() error { return r.Leave(1, none) }, "consumer 1 is not there", "a"},
		{"join again", func() error { return r.Join(1, joining("d")) }, "", "a d"},
		{"leave with an error", func() error { return r.Leave(1, late) }, "late", "a"},
		{"close", func() error {
			if !r.Close(func(string) {}) || r.Close(func(string) { t.Error("closed twice") }) {
				t.Error("it does not know that it was closed")
			}
			return nil
		}, "", "a"},
		{"join what is closed", func() error { return r.Join(1, joining("e")) }, "the group was stopped", "a"},
		{"leave what is closed", func() error { return r.Leave(0, none) }, "the group was stopped", "a"},
	} {
		err := c.do()
		if c.says == "" && err != nil || c.says != "" && (err == nil || err.Error() != c.says) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.says)
		}
		if left := strings.Join(r.Present(), " "); left != c.left {
			t.Errorf("%s: %q are there, want %q", c.name, left, c.left)
		}
	}
	if ever := r.Ever(); !slices.Equal(ever, []string{"b", "a", "d"}) {
		t.Errorf("%q were there, in this order", ever)
	}
}

func TestRosterChangesOneAtATime(t *testing.T) {
	r := NewRoster[int](2)
	var under, done atomic.Int64
	change := func() {
		if n := under.Add(1); n != 1 {
			t.Errorf("%d changes at once", n)
		}
		if there := r.Present(); len(there) > 2 {
			t.Errorf("%d are there", len(there))
		}
		runtime.Gosched()
		under.Add(-1)
		done.Add(1)
	}
	var changes sync.WaitGroup
	for number := range 2 {
		changes.Go(func() {
			for range 1000 {
				if err := r.Join(number, func() (int, error) { change(); return number, nil }); err != nil {
					t.Error(err)
				}
				if err := r.Leave(number, func(int) error { change(); return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	changes.Wait()
	if done.Load() != 4000 || len(r.Present()) != 0 || len(r.Ever()) != 2000 {
		t.Errorf("%d changes, %d are there of %d", done.Load(), len(r.Present()), len(r.Ever()))
	}
	began, goOn := make(chan struct{}), make(chan struct{})
	changes.Go(func() {
		if err := r.Join(0, func() (int, error) { close(began); <-goOn; return 7, nil }); err != nil {
			t.Error(err)
		}
	})
	<-began
	ended := make(chan int, 1)
	changes.Go(func() { r.Close(func(m int) { ended <- m }) })
	for !r.closed.Load() {
		runtime.Gosched()
	}
	close(goOn)
	changes.Wait()
	if len(ended) != 1 || <-ended != 7 {
		t.Error("who joined while the roster was closed was not ended")
	}
}
