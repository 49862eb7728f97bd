package truth

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// A vandal changes the records that a run's consumers get, or the reports that its producers get:
// every nth record of each lane (producer and partition), over a period.
type vandal struct {
	nth uint64
	// The changed records were due in [from, to), in nanoseconds.
	from, to int64

	mu      sync.Mutex
	touched []identity
	held    map[int32][]driver.Received // by partition, from poll to poll
}

// touchable is the number of records that a new vandal may change: one in ten of the 400 in its
// period.
const touchable = 40

// A vandal changes no records near the run's end, so the consumers read past every changed record.
func newVandal() *vandal {
	return &vandal{nth: 10, from: 200e6, to: 600e6, held: make(map[int32][]driver.Received)}
}

func (v *vandal) touches(header *payload.Header, value []byte) bool {
	stamp, id, ok := stampOf(header, value)
	if !ok || id.sequence%v.nth != 3%v.nth || stamp.Intended < v.from || stamp.Intended >= v.to {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.touched = append(v.touched, id)
	return true
}

type received func(r driver.Received) []driver.Received

func (v *vandal) each(rewrite received) func([]driver.Chunk) []driver.Chunk {
	return func(chunks []driver.Chunk) []driver.Chunk {
		for i := range chunks {
			var records []driver.Received
			for _, r := range chunks[i].Records {
				if v.touches(r.Stamp, r.Value) {
					records = append(records, rewrite(r)...)
				} else {
					records = append(records, r)
				}
			}
			chunks[i].Records = records
		}
		return chunks
	}
}

func drop(driver.Received) []driver.Received { return nil }

func duplicate(r driver.Received) []driver.Received { return []driver.Received{r, r} }

func precede(r driver.Received) []driver.Received {
	stranger := driver.Received{Offset: r.Offset, Value: []byte("of another application")}
	return []driver.Received{stranger, r}
}

// The received record is read-only.
func flip(bit int) received {
	return func(r driver.Received) []driver.Received {
		value := slices.Clone(r.Value)
		value[bit/8] ^= 1 << (bit % 8)
		return []driver.Received{{Offset: r.Offset, Key: r.Key, Value: value, Stamp: r.Stamp}}
	}
}

func cut(r driver.Received) []driver.Received {
	return []driver.Received{{Offset: r.Offset, Key: r.Key, Value: r.Value[:20]}}
}

// swap exchanges each changed record with the next one of its lane in the same chunk. One record of
// each pair is then late.
func (v *vandal) swap(chunks []driver.Chunk) []driver.Chunk {
	for _, c := range chunks {
		for i := 0; i < len(c.Records); i++ {
			if later := nextOfLane(c.Records, i); later > 0 && v.touches(c.Records[i].Stamp, c.Records[i].Value) {
				c.Records[i].Value, c.Records[later].Value = c.Records[later].Value, c.Records[i].Value
				i = later
			}
		}
	}
	return chunks
}

// holdBack keeps changed records until the next poll of their partition, if a later one of their
// lane is not kept.
func (v *vandal) holdBack(chunks []driver.Chunk) []driver.Chunk {
	for i, c := range chunks {
		v.mu.Lock()
		records := v.held[c.Partition]
		v.mu.Unlock()
		var held []driver.Received
		for j, r := range c.Records {
			if nextOfLane(c.Records, j) > 0 && v.touches(r.Stamp, r.Value) {
				held = append(held, driver.Received{Offset: r.Offset, Value: slices.Clone(r.Value)})
			} else {
				records = append(records, r)
			}
		}
		v.mu.Lock()
		v.held[c.Partition] = held
		v.mu.Unlock()
		chunks[i].Records = records
	}
	return chunks
}

// nextOfLane is the index of the next record of the same producer; 0 if there is none.
func nextOfLane(records []driver.Received, i int) int {
	_, id, _ := stampOf(records[i].Stamp, records[i].Value)
	for j := i + 1; j < len(records); j++ {
		if _, other, ok := stampOf(records[j].Stamp, records[j].Value); ok && other.producer == id.producer {
			return j
		}
	}
	return 0
}

func (v *vandal) ackUnwritten(r *driver.Record, done func(driver.Done)) bool {
	if !v.touches(r.Stamp, r.Value) {
		return true
	}
	done(driver.Done{Record: r, Tag: r.Tag, Outcome: driver.Acked, Offset: -1})
	return false
}

// The books count every change of a vandal exactly and balance, and the run stays valid.
func TestBooks(t *testing.T) {
	for _, c := range []struct {
		name   string
		vandal func(v *vandal, d *tapped)
		// want changes the books of an unchanged run into those of the run with n changed records.
		want        func(d *result.Delivery, n int64)
		least, most int64 // bounds of the number of changed records
		warning     string
	}{
		{
			name:   "untouched",
			vandal: func(*vandal, *tapped) {},
			want:   func(*result.Delivery, int64) {},
		},
		{
			name:   "dropped",
			vandal: func(v *vandal, d *tapped) { d.poll = v.each(drop) },
			want:   func(d *result.Delivery, n int64) { d.Delivered -= n; d.Unique -= n; d.Lost = n },
			least:  touchable, most: touchable,
			warning: "acknowledged records were lost",
		},
		{
			name:   "duplicated",
			vandal: func(v *vandal, d *tapped) { d.poll = v.each(duplicate) },
			want:   func(d *result.Delivery, n int64) { d.Delivered += n; d.Duplicates = n },
			least:  touchable, most: touchable,
			warning: "deliveries were duplicates",
		},
		{
			name:   "reordered",
			vandal: func(v *vandal, d *tapped) { d.poll = v.swap },
			want:   func(d *result.Delivery, n int64) { d.Reordered = n },
			least:  20, most: touchable, // those with a later one of their lane in the poll
			warning: "records were delivered after a later one of the same producer and partition",
		},
		{
			name:   "late by a poll",
			vandal: func(v *vandal, d *tapped) { d.poll = v.holdBack },
			want:   func(d *result.Delivery, n int64) { d.Reordered = n },
			least:  20, most: touchable,
			warning: "records were delivered after a later one of the same producer and partition",
		},
		{
			name:   "a bit of the body flipped",
			vandal: func(v *vandal, d *tapped) { d.poll = v.each(flip(8*99 + 3)) },
			want:   corrupted,
			least:  touchable, most: touchable,
			warning: "records arrived corrupt",
		},
		{
			name:   "a bit of the sequence flipped",
			vandal: func(v *vandal, d *tapped) { d.poll = v.each(flip(8*21 + 1)) },
			want:   corrupted,
			least:  touchable, most: touchable,
			warning: "records arrived corrupt",
		},
		{
			name:   "a bit of the magic flipped",
			vandal: func(v *vandal, d *tapped) { d.poll = v.each(flip(0)) },
			want:   corrupted,
			least:  touchable, most: touchable,
			warning: "records arrived corrupt",
		},
		{
			name:   "cut short",
			vandal: func(v *vandal, d *tapped) { d.poll = v.each(cut) },
			want:   corrupted,
			least:  touchable, most: touchable,
			warning: "records arrived corrupt",
		},
		{
			name:   "strangers in between",
			vandal: func(v *vandal, d *tapped) { d.poll = v.each(precede) },
			want:   func(d *result.Delivery, n int64) { d.Foreign = n },
			least:  touchable, most: touchable,
			warning: "records in the topic are not of this run",
		},
		{
			name:   "acked and never written",
			vandal: func(v *vandal, d *tapped) { d.produce = v.ackUnwritten },
			want:   func(d *result.Delivery, n int64) { d.Delivered -= n; d.Unique -= n; d.Lost = n },
			least:  touchable, most: touchable,
			warning: "acknowledged records were lost",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, v := vandalised(t, c.vandal)
			n := int64(len(v.touched))
			if n < c.least || n > c.most {
				t.Errorf("%d records were touched, want %d to %d", n, c.least, c.most)
			}
			want := result.Delivery{Checked: true, Delivered: 1000, Unique: 1000}
			c.want(&want, n)
			want.Ratio = float64(want.Unique) / 1000
			wantDelivery(t, r.Run.Delivery, want)
			if want.Lost > 0 {
				wantLost(t, r.Run.Delivery, v)
			}
			wantValid(t, r)
			wantBalance(t, r)
			wantCount(t, "acked", r.Run.Load.Acked, 1000)
			wantCount(t, "warm-up: unique", r.Run.Warmup.Delivery.Unique, 500)
			if c.warning != "" {
				wantWarning(t, r, fmt.Sprintf("%d %s", n, c.warning))
			}
		})
	}
}

func corrupted(d *result.Delivery, n int64) { d.Delivered -= n; d.Unique -= n; d.Corrupt = n }

// There are 500 warm-up and 1000 measured records. With a linger of 20 ms, a poll has several
// records of a lane.
func vandalised(t *testing.T, let func(*vandal, *tapped), overrides ...string) (*result.Recorded, *vandal) {
	t.Helper()
	v, d := newVandal(), &tapped{Driver: franz.New()}
	let(v, d)
	var r *result.Recorded
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "vandal", append([]string{"load.linger=20ms"}, overrides...)...)
		r = run(t, withDriver(config(t, c, s), d))
	})
	return r, v
}

func wantDelivery(t *testing.T, got, want result.Delivery) {
	t.Helper()
	got.LostRanges, got.DeliveredPerS, got.DuplicatesPerS = nil, 0, nil // the rates have a test of their own
	got.UniqueInPhase, got.DuplicatesInPhase, got.DeliveredToAcked = nil, nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("delivery is\n%+v, want\n%+v", got, want)
	}
}

func wantLost(t *testing.T, d result.Delivery, v *vandal) {
	t.Helper()
	named, touched := make(map[identity]bool), make(map[identity]bool)
	for _, r := range d.LostRanges {
		for sequence := r.From; sequence <= r.To; sequence++ {
			named[identity{uint16(r.Producer), r.Partition, sequence}] = true
		}
	}
	for _, id := range v.touched {
		touched[id] = true
	}
	if !maps.Equal(named, touched) {
		t.Errorf("lost are %v, and named as lost are %v", touched, named)
	}
}

func TestLostWarmup(t *testing.T) {
	t.Parallel()
	r, v := vandalised(t, func(v *vandal, d *tapped) {
		v.from, v.to = -400e6, 0
		d.poll = v.each(drop)
	})
	n := int64(len(v.touched))
	wantCount(t, "touched", n, touchable)
	wantDelivery(t, r.Run.Delivery, result.Delivery{Checked: true, Delivered: 1000, Unique: 1000, Ratio: 1})
	wantDelivery(t, r.Run.Warmup.Delivery.Delivery, result.Delivery{
		Checked: true, Delivered: 500 - n, Unique: 500 - n, Lost: n, Ratio: float64(500-n) / 500,
	})
	wantLost(t, r.Run.Warmup.Delivery.Delivery, v)
	wantValid(t, r)
	wantBalance(t, r)
}

func TestPendingTail(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var n int64
	r, _ := vandalised(t, func(_ *vandal, d *tapped) {
		d.poll = func(chunks []driver.Chunk) []driver.Chunk {
			mu.Lock()
			defer mu.Unlock()
			for i, c := range chunks {
				chunks[i].Records = slices.DeleteFunc(slices.Clone(c.Records), func(r driver.Received) bool {
					stamp, _, _ := stampOf(r.Stamp, r.Value)
					return stamp.Intended >= 900e6
				})
				n += int64(len(c.Records) - len(chunks[i].Records))
			}
			return chunks
		}
	}, "phases.drain=1s")
	wantCount(t, "records of the last 100 ms", n, 100)
	wantDelivery(t, r.Run.Delivery, result.Delivery{
		Checked: true, Delivered: 900, Unique: 900, Pending: 100, Ratio: 0.9,
	})
	if r.Run.Lag.Drained {
		t.Error("the run is drained, with 100 records pending")
	}
	wantWarning(t, r, "not drained: 100 acknowledged records")
	wantValid(t, r)
	wantBalance(t, r)
}

// At the end of all lanes, records are acked and not written. They are lost, because the consumers
// have reached the log's end.
func TestLostTail(t *testing.T) {
	t.Parallel()
	r, v := vandalised(t, func(v *vandal, d *tapped) {
		v.nth, v.from, v.to = 1, 800e6, 1000e6
		d.produce = v.ackUnwritten
	})
	wantDelivery(t, r.Run.Delivery, result.Delivery{Checked: true, Delivered: 800, Unique: 800, Lost: 200, Ratio: 0.8})
	wantLost(t, r.Run.Delivery, v)
	if !r.Run.Lag.Drained {
		t.Error("the drain waited for records that are lost")
	}
	wantValid(t, r)
	wantBalance(t, r)
}

func TestUnknownStaysUnknown(t *testing.T) {
	t.Parallel()
	for _, outcome := range []driver.Outcome{driver.Unknown, driver.Failed} {
		t.Run(outcome.String(), func(t *testing.T) {
			t.Parallel()
			r, v := vandalised(t, func(v *vandal, d *tapped) {
				d.done = func(d driver.Done, pass func(driver.Done)) {
					if v.touches(d.Stamp, d.Value) {
						d.Outcome, d.Offset, d.Err = outcome, -1, errors.New("told so")
					}
					pass(d)
				}
			})
			n := int64(len(v.touched))
			l := r.Run.Load
			got := map[driver.Outcome]int64{driver.Unknown: l.Unknown, driver.Failed: l.Failed}[outcome]
			if n != touchable || got != n || l.Acked != 1000-n {
				t.Errorf("%d records were touched; the load is %+v", n, l)
			}
			wantCount(t, "errors by that message", l.Errors["told so"], n)
			wantDelivery(t, r.Run.Delivery, result.Delivery{
				Checked: true, Delivered: 1000, Unique: 1000, UnackedDelivered: n, Ratio: 1,
			})
			wantValid(t, r)
			wantBalance(t, r)
		})
	}
}

func TestUnreported(t *testing.T) {
	t.Parallel()
	r, v := vandalised(t, func(v *vandal, d *tapped) {
		d.produce = func(r *driver.Record, _ func(driver.Done)) bool { return !v.touches(r.Stamp, r.Value) }
	}, "phases.drain=1s")
	n := int64(len(v.touched))
	wantCount(t, "touched", n, touchable)
	wantReason(t, r, fmt.Sprintf("the client never reported on %d records", n))
	wantDelivery(t, r.Run.Delivery, result.Delivery{
		Checked: true, Delivered: 1000 - n, Unique: 1000 - n, Ratio: float64(1000-n) / 1000,
	})
}
