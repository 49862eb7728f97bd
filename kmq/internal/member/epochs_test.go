package member

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// brokersEnd answers as a leader with this log would: the newest epoch that is not above the asked one, and its end.
func brokersEnd(log Epochs, end int64, asked int32) (answered int32, at int64) {
	answered, at = -1, -1
	for i, e := range log {
		if e.Number > asked {
			break
		}
		if answered, at = e.Number, end; i+1 < len(log) {
			at = log[i+1].From
		}
	}
	return answered, at
}

func divergence(t interface{ Fatalf(string, ...any) }, read Epochs, end int64, log Epochs, logEnd int64) int64 {
	asked := read.newest()
	for range 100 {
		answered, answeredEnd := brokersEnd(log, logEnd, asked)
		at, older := read.diverges(end, asked, answered, answeredEnd)
		if older < 0 {
			return at
		}
		if older >= asked {
			t.Fatalf("after %d, epoch %d is asked for", asked, older)
		}
		asked = older
	}
	t.Fatalf("no end of questions")
	return 0
}

func TestDivergence(t *testing.T) {
	for _, c := range []struct {
		name        string
		read        Epochs
		end         int64
		log         Epochs
		logEnd, cut int64
	}{
		{"the same", Epochs{{5, 0}, {6, 100}}, 130, Epochs{{5, 0}, {6, 100}}, 200, 130},
		{"a later leader", Epochs{{5, 0}, {6, 100}}, 130, Epochs{{5, 0}, {6, 100}, {9, 130}}, 200, 130},
		{"a lost tail", Epochs{{5, 0}, {6, 100}}, 130, Epochs{{5, 0}, {6, 100}, {8, 110}}, 200, 110},
		{"another leader's records", Epochs{{5, 0}, {6, 100}}, 130, Epochs{{5, 0}, {8, 120}}, 200, 100},
		{"beyond the end of what was read", Epochs{{5, 0}, {6, 100}}, 130, Epochs{{5, 0}, {8, 140}}, 200, 100},
		{"an epoch in between", Epochs{{5, 0}, {7, 100}}, 130, Epochs{{5, 0}, {6, 90}, {8, 140}}, 200, 90},
		{"only a later epoch, from there on", Epochs{{6, 100}}, 130, Epochs{{5, 0}, {8, 140}}, 200, 100},
		{"only a commit", Epochs{{6, -1}}, 130, Epochs{{4, 0}, {5, 40}, {8, 140}}, 200, 40},
		{"only a commit, behind the end", Epochs{{6, -1}}, 130, Epochs{{4, 0}, {6, 40}, {8, 120}}, 200, 120},
		{"only a commit, and the first epoch", Epochs{{6, -1}}, 130, Epochs{{0, 0}, {8, 140}}, 200, 0},
		{"nothing is known", Epochs{{5, 0}}, 130, Epochs{{7, 0}}, 200, -1},
	} {
		if at := divergence(t, c.read, c.end, c.log, c.logEnd); at != c.cut {
			t.Errorf("%s: cut at %d, want %d", c.name, at, c.cut)
		}
	}
}

// Two logs begin alike, and then each has epochs of its own: the divergence is found exactly if all epochs that
// were read are known.
func TestDivergenceOfAnyLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var read, log Epochs
		number, at := int32(0), int64(0)
		grow := func(e Epochs, most int) (Epochs, int64) {
			n, offset := number, at
			for range rapid.IntRange(1, most).Draw(t, "epochs") {
				n += rapid.Int32Range(1, 3).Draw(t, "step")
				e = append(e[:len(e):len(e)], Epoch{n, offset})
				offset += rapid.Int64Range(1, 50).Draw(t, "records")
			}
			return e, offset
		}
		read, at = grow(read, 3)
		number = read.newest()
		// From here on, each epoch is in one of the logs only.
		common := at
		log = slices.Clone(read)
		var end, logEnd int64
		read, end = grow(read, 3)
		log, logEnd = grow(log, 3)
		taken := make(map[int32]bool)
		for _, e := range read {
			taken[e.Number] = e.From >= common
		}
		log = slices.DeleteFunc(log, func(e Epoch) bool { return e.From >= common && taken[e.Number] })
		newer := max(read.newest(), log.newest()) + 1
		log = append(log, Epoch{newer, logEnd})
		if got := divergence(t, read, end, log, logEnd+10); got != common {
			t.Fatalf("read %v to %d, the log is %v: cut at %d, want %d", read, end, log, got, common)
		}
	})
}

func TestEpochsWithin(t *testing.T) {
	e := Epochs{{3, -1}, {5, 100}, {6, 120}}
	for _, c := range []struct {
		from, to int64
		want     Epochs
	}{
		{0, math.MaxInt64, e},
		{100, 130, e},
		{101, 130, Epochs{{5, 100}, {6, 120}}},
		{110, 120, Epochs{{5, 100}}},
		{200, 300, Epochs{{6, 120}}},
		{10, 20, Epochs{{3, -1}}},
	} {
		if got := e.Within(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
	for offset, want := range map[int64]int32{0: 3, 100: 3, 101: 5, 120: 5, 121: 6} {
		if got := e.before(offset); got != want {
			t.Errorf("before %d: epoch %d, want %d", offset, got, want)
		}
	}
}
