package lagcontrol_test

import (
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

func TestOwnRecordsAgainstASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := lagcontrol.NewOwn()
		type record struct {
			partition int32
			offset    int64
		}
		acked, committed := map[record]bool{}, [2]int64{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			partition := rapid.Int32Range(0, 1).Draw(t, "partition")
			if rapid.IntRange(0, 5).Draw(t, "commit") > 0 {
				r := record{partition, rapid.Int64Range(0, 60).Draw(t, "offset")}
				if acked[r] && r.offset < committed[partition] {
					continue // an offset is acknowledged once, and committed ones are forgotten
				}
				acked[r] = true
				own.Acked("t", r.partition, r.offset)
			} else {
				at := rapid.Int64Range(0, 60).Draw(t, "committed")
				committed[partition] = max(committed[partition], at)
				other := 1 - partition
				own.Learn([]lagcontrol.Partition{
					{Topic: "t", ID: partition, Committed: at, End: 61}, {Topic: "t", ID: other, Committed: committed[other], End: 61},
				}, 0)
			}
			var outstanding, passed int64
			for r := range acked {
				if r.offset < committed[r.partition] {
					passed++
				} else {
					outstanding++
				}
			}
			if o, c := own.Count(); o != outstanding || c != passed {
				t.Fatalf("%d outstanding and %d committed; want %d and %d", o, c, outstanding, passed)
			}
		}
	})
}

func TestOwnRecordsMergeWhatTouches(t *testing.T) {
	own := lagcontrol.NewOwn()
	for _, step := range []struct {
		offset int64
		spans  int
	}{{5, 1}, {7, 2}, {9, 3}, {8, 2}, {4, 2}, {6, 1}, {6, 1}, {20, 2}, {2, 3}, {3, 2}} {
		own.Acked("t", 0, step.offset)
		if got := own.Spans(); got != step.spans {
			t.Errorf("after %d: %d spans, want %d", step.offset, got, step.spans)
		}
	}
	own.Learn([]lagcontrol.Partition{{Topic: "t", Committed: 21}}, 0)
	if o, c := own.Count(); o != 0 || c != 9 || own.Spans() != 0 {
		t.Errorf("%d outstanding, %d committed, %d spans", o, c, own.Spans())
	}
}

func TestOwnRecordsInDoubtCountUntilTheLogIsCommitted(t *testing.T) {
	own := lagcontrol.NewOwn()
	read := func(committed0, committed1 int64) []lagcontrol.Partition {
		return []lagcontrol.Partition{{Topic: "t", ID: 0, Committed: committed0, End: 50}, {Topic: "t", ID: 1, Committed: committed1, End: 80}}
	}
	for i, step := range []struct {
		committed [2]int64
		overdue   int64
		settled   int64
	}{
		{[2]int64{0, 0}, 0, 0},
		{[2]int64{10, 10}, 3, 0},
		{[2]int64{50, 10}, 2, 0},
		{[2]int64{50, 80}, 0, 3},
		{[2]int64{50, 80}, 0, 2},
		{[2]int64{50, 80}, 0, 0},
	} {
		if got := own.Learn(read(step.committed[0], step.committed[1]), step.overdue); got != step.settled {
			t.Errorf("reading %d settled %d, want %d", i, got, step.settled)
		}
	}
}
