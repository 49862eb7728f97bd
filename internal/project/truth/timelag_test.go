package truth

import (
	"math"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// The backlog of acknowledged records stays 0 and the time lag grows. The measurement is valid, and
// the system unavailable.
func TestTimeLagOfAnOutage(t *testing.T) {
	t.Parallel()
	const last, end = 5 * time.Second, 14 * time.Second
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		d := &tapped{Driver: franz.New()}
		d.produce = func(r *driver.Record, done func(driver.Done)) bool {
			stamp, _, ok := stampOf(r.Stamp, r.Value)
			if !ok || stamp.Intended <= int64(last) {
				return true
			}
			time.AfterFunc(end+50*time.Millisecond-time.Duration(stamp.Intended), func() {
				done(driver.Done{Record: r, Tag: r.Tag, Outcome: driver.Unknown, Offset: -1})
			})
			return false
		}
		s := smallScenario(t, "outage", "phases.measure=14s", "phases.drain=100ms", "load.max_buffered=10000")
		r := run(t, withDriver(config(t, c, s), d))
		wantOpen(t, r)
		at := intervalAt(t, r, end)
		const open = 8999 // due from 5.001 s to 13.999 s
		wantCount(t, "in flight after 14 s", at.InFlightRecords, open)
		wantCount(t, "backlog after 14 s", at.BacklogRecords, 0)
		wantCount(t, "undelivered after 14 s", *at.UndeliveredRecords, open)
		wantBetween(t, "the time lag after 14 s", at.TimeLagNs, 8999*time.Millisecond, 9004*time.Millisecond)
		wantValid(t, r)
		if r.Run.System.Status != result.Unavailable {
			t.Errorf("the system is %q: %q", r.Run.System.Status, r.Run.System.Findings)
		}
	})
}

// Failed and unknown records have ended, so they are not undelivered.
func TestTimeLagOfFailedSends(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		d := &tapped{Driver: franz.New()}
		d.produce = func(r *driver.Record, done func(driver.Done)) bool {
			stamp, id, ok := stampOf(r.Stamp, r.Value)
			if !ok || stamp.Intended < 200e6 || stamp.Intended >= 700e6 {
				return true
			}
			outcome := driver.Failed
			if id.sequence%2 == 0 {
				outcome = driver.Unknown
			}
			done(driver.Done{Record: r, Tag: r.Tag, Outcome: outcome, Offset: -1})
			return false
		}
		r := run(t, withDriver(config(t, c, smallScenario(t, "refused")), d))
		wantOpen(t, r)
		wantCount(t, "failed and unknown", r.Run.Load.Failed+r.Run.Load.Unknown, 500)
		if open := *intervalAt(t, r, 600*time.Millisecond).UndeliveredRecords; open > 2 { // due at this moment
			t.Errorf("%d are undelivered after 600 ms", open)
		}
	})
}

// Only records without an outcome are undelivered: the first of each partition, whose outcome the
// producing client never reports, and those in flight.
func TestUndeliveredOfAQueue(t *testing.T) {
	t.Parallel()
	const kept = 4
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		d := &tapped{Driver: franz.New()}
		d.produce = func(r *driver.Record, done func(driver.Done)) bool {
			_, id, ok := stampOf(r.Stamp, r.Value)
			if !ok || id.sequence > 0 {
				return true
			}
			time.AfterFunc(950*time.Millisecond, func() { done(driver.Done{Record: r, Tag: r.Tag, Outcome: driver.Failed, Offset: -1}) })
			return false
		}
		d.done = func(report driver.Done, pass func(driver.Done)) {
			if _, id, ok := stampOf(report.Record.Stamp, report.Record.Value); ok && id.sequence%2 > 0 {
				report.Outcome, report.Offset = driver.Unknown, -1
			}
			pass(report)
		}
		r := run(t, withDriver(config(t, c, ofQueue(t, "kept", "plain", "load.producers=1")), d))
		wantOpen(t, r)
		wantCount(t, "failed", r.Run.Load.Failed, kept)
		wantCount(t, "handed over", r.Run.Queue.UniqueDelivered, queued-kept)
		for at := 100 * time.Millisecond; at < 900*time.Millisecond; at += 100 * time.Millisecond {
			iv := intervalAt(t, r, at)
			if open := *iv.UndeliveredRecords; open < kept || open > kept+25 { // sent in the last 25 ms
				t.Errorf("%d are undelivered after %v, want %d", open, at, kept)
			}
			wantBetween(t, "the time lag", iv.TimeLagNs, at-kept*time.Millisecond, at)
		}
		wantCount(t, "undelivered in the end", *r.Intervals[len(r.Intervals)-1].UndeliveredRecords, 0)
	})
}

func intervalAt(t *testing.T, r *result.Recorded, at time.Duration) result.Interval {
	t.Helper()
	for _, iv := range r.Intervals {
		if iv.EndNs == int64(at) {
			return iv
		}
	}
	t.Fatalf("no interval ends at %v", at)
	return result.Interval{}
}

func wantOpen(t *testing.T, r *result.Recorded) {
	t.Helper()
	for _, iv := range r.Intervals {
		open := iv.UndeliveredRecords
		if open == nil {
			if iv.TimeLagNs != 0 {
				t.Errorf("until %d: the time lag is %d, of unknown records", iv.EndNs, iv.TimeLagNs)
			}
		} else if (*open > 0) != (iv.TimeLagNs > 0) || iv.TimeLagNs == math.MaxInt64 {
			t.Errorf("until %d: the time lag of %d undelivered records is %d", iv.EndNs, *open, iv.TimeLagNs)
		}
	}
}
