package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// sixteenBytes is too small for a stamp in the value.
var sixteenBytes = []string{"load.record.size=16B", "load.record.stamp=header"}

// Records with a stamp in a header are checked and timed like others, whatever their size.
func TestHeaderStamps(t *testing.T) {
	for _, c := range []struct {
		name   string
		vandal func(v *vandal, d *tapped)
		want   func(d *result.Delivery, n int64)
		least  int
	}{
		{"untouched", func(*vandal, *tapped) {}, func(*result.Delivery, int64) {}, 0},
		{
			"dropped", func(v *vandal, d *tapped) { d.poll = v.each(drop) },
			func(d *result.Delivery, n int64) { d.Delivered -= n; d.Unique -= n; d.Lost = n }, touchable,
		},
		{
			"duplicated", func(v *vandal, d *tapped) { d.poll = v.each(duplicate) },
			func(d *result.Delivery, n int64) { d.Delivered += n; d.Duplicates = n }, touchable,
		},
		{
			"a bit of the value flipped", func(v *vandal, d *tapped) { d.poll = v.each(flip(8*15 + 3)) },
			corrupted, touchable,
		},
		{
			"a bit of the header flipped", func(v *vandal, d *tapped) { d.poll = v.each(flipInHeader(8*21 + 1)) },
			corrupted, touchable,
		},
		{
			"strangers in between", func(v *vandal, d *tapped) { d.poll = v.each(precede) },
			func(d *result.Delivery, n int64) { d.Foreign = n }, touchable,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, v := vandalised(t, c.vandal, sixteenBytes...)
			if len(v.touched) != c.least {
				t.Errorf("%d records were touched, want %d", len(v.touched), c.least)
			}
			want := result.Delivery{Checked: true, Delivered: 1000, Unique: 1000}
			c.want(&want, int64(len(v.touched)))
			want.Ratio = float64(want.Unique) / 1000
			wantDelivery(t, r.Run.Delivery, want)
			wantValid(t, r)
			wantBalance(t, r)
			wantCount(t, "timed", r.Run.Time["e2e_response_time"].Count, want.Unique)
			wantCount(t, "acked bytes", r.Run.Load.Bytes, 16*1000)
		})
	}
}

func flipInHeader(bit int) received {
	return func(r driver.Received) []driver.Received {
		header := payload.Header(append([]byte(nil), r.Stamp[:]...))
		header[bit/8] ^= 1 << (bit % 8)
		r.Stamp = &header
		return []driver.Received{r}
	}
}

// The engines' copies and dead letters keep the header.
func TestHeaderStampsOfQueues(t *testing.T) {
	t.Parallel()
	const drops = "drop: {share: 50%}, visibility: 2s, max_deliveries: 4"
	for _, d := range []dropping{{"markers-header", "markers", drops, 4}, {"share-header", "share", drops, 4}} {
		t.Run(d.engine, func(t *testing.T) {
			t.Parallel()
			virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
				wantDrops(t, c, d, queued, sixteenBytes...)
			})
		})
	}
}
