package crash

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
)

func (v *world) deadLetters() map[int]int {
	dead := make(map[int]int)
	if v.dead == nil {
		return dead
	}
	for _, records := range v.dead.records {
		for _, r := range records {
			dead[numberOf(r.Value)]++
		}
	}
	return dead
}

func (v *world) unsettled(ctx context.Context) ([]int, error) {
	// Read the dead letters first. A record that becomes a dead letter after that counts as open,
	// unless the journal says that it was processed.
	if v.dead != nil {
		if err := v.dead.sync(ctx); err != nil {
			return nil, err
		}
	}
	if err := v.book.read(); err != nil {
		return nil, err
	}
	dead := v.deadLetters()
	var open []int
	for n := range int(v.produced.Load()) {
		if dead[n] == 0 && !v.book.processed(n) {
			open = append(open, n)
		}
	}
	return open, nil
}

func (v *world) settle(within time.Duration) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var open []int // by the last look that succeeded
	for {
		look, err := v.unsettled(ctx)
		if err == nil {
			open = look
		}
		if err == nil && len(open) == 0 {
			return
		}
		if ctx.Err() != nil {
			v.t.Errorf("LOST: %d of %d records are not settled after %v (%v)", len(open), v.produced.Load(), within, err)
			for _, n := range open[:min(len(open), 5)] {
				r := numbered(v.spec.Topic, v.spec.Partitions, v.spec.Born, n)
				v.t.Errorf("record %d of partition %d:%s", n, r.Partition, v.book.story(n))
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (v *world) audit() {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	open, err := v.unsettled(ctx)
	if err != nil {
		v.t.Fatal(err)
	}
	if len(open) > 0 {
		v.t.Errorf("LOST: %d of %d records are neither processed nor dead letters, first %d:%s",
			len(open), v.produced.Load(), open[0], v.book.story(open[0]))
	}
	if err := v.readAll(ctx); err != nil {
		v.t.Fatal(err)
	}
	v.checkCopies()
	v.checkDeadLetters()
	b := v.book
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong[:min(len(b.wrong), 5)] {
		v.t.Errorf("%s", w)
	}
	if len(b.wrong) > 5 {
		v.t.Errorf("… and %d more", len(b.wrong)-5)
	}
}

// A record may be written twice, after a request that succeeded but returned an error.
func (v *world) origins() map[kmq.ID]int {
	at := make(map[kmq.ID]int)
	for p, records := range v.queue.records {
		for _, r := range records {
			at[kmq.ID{Partition: p, Offset: r.Offset}] = numberOf(r.Value)
		}
	}
	return at
}

func (v *world) checkCopies() {
	v.t.Helper()
	origins := v.origins()
	for id, n := range origins {
		f := v.book.fates[n]
		if f == nil {
			continue
		}
		for _, d := range f.deliveries {
			if origins[d.id] != n {
				v.t.Errorf("record %d at %v was delivered as %v, which is record %d", n, id, d.id, origins[d.id])
				break
			}
		}
	}
	for _, records := range v.queue.records {
		for _, r := range records {
			if _, copied := originOf(r); copied {
				v.t.Errorf("a copy of record %d is in the topic itself", numberOf(r.Value))
			}
		}
	}
	if v.retries == nil {
		return
	}
	for p, records := range v.retries.records {
		for _, r := range records {
			v.checkCopy(r, p, origins, "copy")
		}
	}
}

func (v *world) checkDeadLetters() {
	v.t.Helper()
	origins := v.origins()
	for p, records := range v.dead.records {
		for _, r := range records {
			v.checkCopy(r, p, origins, "dead letter")
			for _, key := range []string{"kmq-reason", "kmq-deliveries"} {
				if len(header(r, key)) == 0 {
					v.t.Errorf("dead letter %d has no %s", numberOf(r.Value), key)
				}
			}
			if got := string(header(r, "kmq-topic")); got != v.spec.Topic {
				v.t.Errorf("dead letter of topic %q, not %q", got, v.spec.Topic)
			}
			if got := string(header(r, "kmq-group")); got != v.spec.Group {
				v.t.Errorf("dead letter of group %q, not %q", got, v.spec.Group)
			}
		}
	}
	dead := v.deadLetters()
	v.checkHanded()
	for n, f := range v.book.fates {
		if f.rejected > 0 && dead[n] == 0 {
			v.t.Errorf("LOST: Reject of record %d returned, and it is no dead letter", n)
		}
	}
}

// Each dead letter was rejected, or handed out MaxDeliveries times. A process that was killed may have been handed a record
// without a note of it, and may have written the dead letter of a rejected one without a note. A process that the group has
// put out may have committed a delivery that it no longer could hand out.
func (v *world) checkHanded() {
	v.t.Helper()
	if v.spec.MaxDeliveries == 0 {
		return
	}
	most := v.spec.MaxDeliveries
	if v.spec.Engine == shareEngine {
		most /= 2 // brokers also count deliveries whose responses were lost: those of a handler are fewer
	}
	var early []int
	for _, records := range v.dead.records {
		for _, r := range records {
			n := numberOf(r.Value)
			f, rejected := v.book.fates[n], string(header(r, "kmq-reason")) == rejection
			if f == nil || !rejected && len(f.deliveries)+v.broken+v.book.lossesSince(f.mayHaveBegun(v.spec.Visibility)) < most {
				early = append(early, n)
			}
		}
	}
	if len(early) > 0 {
		first := slices.Min(early)
		v.t.Errorf("GIVEN UP EARLY: %d dead letters were neither rejected nor handed out %d times (%d processes were broken), first record %d:%s",
			len(early), most, v.broken, first, v.book.story(first))
	}
}

func (v *world) checkCopy(r *kgo.Record, partition int32, origins map[kmq.ID]int, what string) {
	v.t.Helper()
	n := numberOf(r.Value)
	r = withTimestampOfOriginal(r)
	if wrong := different(r, v.spec.Partitions, v.spec.Born, n, true); wrong != "" {
		v.t.Errorf("%s of record %d: %s", what, n, wrong)
	}
	id, ok := originOf(r)
	if of, known := origins[id]; !ok || !known || of != n {
		v.t.Errorf("%s of record %d has the origin %v, which is record %d", what, n, id, of)
	}
	if id.Partition != partition {
		v.t.Errorf("%s of record %d went from partition %d to %d", what, n, id.Partition, partition)
	}
}

// withTimestampOfOriginal returns a dead letter with the timestamp that its record had, and another copy as it is.
func withTimestampOfOriginal(r *kgo.Record) *kgo.Record {
	if at, err := time.Parse(time.RFC3339Nano, string(header(r, "kmq-timestamp"))); err == nil {
		of := *r
		of.Timestamp = at
		return &of
	}
	return r
}

func (v *world) summary() string {
	b := v.book
	b.mu.Lock()
	defer b.mu.Unlock()
	var delivered, again, twice int
	for _, f := range b.fates {
		delivered += len(f.deliveries)
		if len(f.deliveries) > 1 {
			again++
		}
		if f.processed > 1 {
			twice += f.processed - 1
		}
	}
	killed := 0
	for _, n := range b.kills {
		killed += n
	}
	return fmt.Sprintf("%d records, %d deliveries, %d records delivered more than once, %d processed again, %d dead letters; %d kills %v; %v",
		v.produced.Load(), delivered, again, twice, len(v.deadLetters()), killed, sorted(b.kills), sorted(b.errors))
}

func sorted(counts map[string]int) string {
	var s []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		s = append(s, fmt.Sprintf("%s: %d", k, counts[k]))
	}
	return "[" + strings.Join(s, ", ") + "]"
}
