package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// A Child is a Part: what is asked of it is sent to the Service in its process. The last
// snapshot is kept: of a child that is late, stands still or has ended it is still what is
// known.

// errNotRunning is why a child is not asked.
var errNotRunning = errors.New("the process stands still, or has ended")

var (
	_ offering = (*Child)(nil)
	_ offering = (*Here)(nil)
)

// Open implements Part.
func (c *Child) Open(_ context.Context, a Assignment) (o Opened, err error) {
	c.expect(a)
	err = c.call(PartName+".Open", Opening{a, c.access}, &o, OpenTimeout)
	return o, err
}

// expect says what part the child is, before it tells anything.
func (c *Child) expect(a Assignment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partitions = a.Partitions
	c.last = snapshot.Snapshot{Version: Version, Part: a.Part, FromNs: math.MaxInt64, ToNs: math.MinInt64}
	if a.Group == nil { // it produces
		c.last.Behind.AckedIn = make([]int64, a.Partitions)
	}
}

// Start implements Part.
func (c *Child) Start(zero load.Zero) error {
	if !c.begin() {
		return errNotRunning
	}
	defer c.waiting.Done()
	return c.Call(PartName+".Start", zero, new(None))
}

// Do implements Part.
func (c *Child) Do(command Command) (a Answer, err error) {
	if !c.begin() {
		return a, errNotRunning
	}
	defer c.waiting.Done()
	err = c.call(PartName+".Do", command, &a, command.limit())
	return a, err
}

// Snapshot implements Part.
func (c *Child) Snapshot(w Want) (snapshot.Snapshot, error) {
	if w.Fresh {
		return c.ask(w), c.Err()
	}
	var s snapshot.Snapshot
	if !c.soon(func() { s = c.ask(w) }) { // it may be written to at any time
		return c.told(), c.Err()
	}
	return s, c.Err()
}

// Close implements Part.
func (c *Child) Close(ctx context.Context) (s snapshot.Snapshot, err error) {
	patience := closeTimeout
	if until, bounded := ctx.Deadline(); bounded {
		patience = max(0, time.Until(until))
	}
	if err := c.call(PartName+".Close", patience, &s, patience+answerTimeout); err != nil {
		return c.told(), err
	}
	s = c.keep(s)
	c.settle() // what it still owes has times that are in no other answer
	return s, c.Err()
}

// ask asks how the part stands, and keeps the answer.
func (c *Child) ask(w Want) snapshot.Snapshot {
	if !c.begin() {
		return c.told()
	}
	defer c.waiting.Done()
	return c.askNow(w)
}

// askNow is ask of whoever may.
func (c *Child) askNow(w Want) snapshot.Snapshot {
	var s snapshot.Snapshot
	if c.Err() != nil || c.Call(PartName+".Snapshot", w, &s) != nil {
		return c.told()
	}
	return c.keep(s)
}

// told is what the child last told. Of one that has ended nobody knows when what is open
// was due, and nothing waits at its source any more.
func (c *Child) told() snapshot.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.last
	if c.err != nil {
		s.Behind, s.DeferredPeak = snapshot.Behind{AckedIn: s.Behind.AckedIn}, 0
	}
	return s
}

// keep stores a snapshot and returns it, with the fields that it was not asked for as the
// child reported them last. Answers may arrive out of order: a cheap question overtakes a
// costly one. A snapshot that is late updates only the optional fields that it has.
func (c *Child) keep(s snapshot.Snapshot) snapshot.Snapshot {
	c.mu.Lock()
	if err := s.Fits(c.partitions); err != nil {
		c.mu.Unlock()
		c.giveUp(err)
		return c.told()
	}
	defer c.mu.Unlock()
	if len(s.Times) > 0 {
		c.times = append(c.times, s.Times)
		s.Times = nil
	}
	told := s.Since(c.last)
	if s.Seq < c.last.Seq {
		c.last = c.last.Without(s).Since(s)
	} else {
		c.last = told
	}
	c.last.Pauses, c.last.Told = nil, nil // they are told once
	return told
}

// giveUp ends a child that is of no more use.
func (c *Child) giveUp(why error) {
	c.fail(why)
	c.worker.kill()
	<-c.gone
}

// AddTo has a collector gather the histograms.
func (c *Child) AddTo(to *latency.Collector) { to.AddSource(c) }

// Recorded implements latency.Source: it has what came with snapshots.
func (c *Child) Recorded(merge func(part latency.Encoded) error) {
	c.mu.Lock()
	times := c.times
	c.times = nil
	c.mu.Unlock()
	for _, part := range times {
		if err := merge(part); err != nil {
			c.giveUp(err)
		}
	}
}

// Done is closed when every producer has sent and settled all that it could, or has ended
// with the process.
func (c *Child) Done() <-chan struct{} { return c.done }

// Spent is closed when the producers have offered their share of the volume, and Spending
// is how that came about.
func (c *Child) Spent() <-chan struct{} { return c.spent }

// Spending is how the volume came to its end, once Spent is closed.
func (c *Child) Spending() snapshot.Spending { return c.spending }

// follow takes in what happens in the part, until the process ends.
func (c *Child) follow(s Start) {
	defer close(c.followed)
	done := c.done
	for {
		var told Told
		if err := c.Await(PartName+".Events", None(0), &told); err != nil {
			if failed := c.Err(); failed != nil && s.Died != nil {
				s.Died(failed)
			}
			if done != nil {
				close(done)
			}
			return
		}
		if told.Spent != nil {
			c.spending = *told.Spent
			close(c.spent)
		}
		if told.Done {
			close(done)
			done = nil
		}
		if len(told.Events) > 0 && s.Tell != nil {
			c.relay(told.Events, s.Tell)
		}
	}
}

// relay tells of events. One that can't be read is a malformed answer, and the end of the
// child.
func (c *Child) relay(encoded []byte, tell func(result.Event)) {
	var events []result.Event
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber() // a count stays what it is
	if err := decoder.Decode(&events); err != nil {
		c.giveUp(fmt.Errorf("what it tells can't be read: %w", err))
		return
	}
	for _, e := range events {
		if e.Data == nil {
			e.Data = make(map[string]any)
		}
		tell(e)
	}
}

// begin reports whether the child may be asked; whoever does is one of those waiting until
// it says that it is done.
func (c *Child) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.rests {
		c.waiting.Add(1)
	}
	return !c.rests
}

// rest is the end of asking. From now on nobody else asks; when those have their answers
// that wait for one, the child is asked for everything for the last time. One that hangs
// costs the time that one answer may take, after which it is ended (Call).
func (c *Child) rest() {
	c.mu.Lock()
	again := c.rests
	c.rests = true
	c.mu.Unlock()
	if !again {
		c.waiting.Wait()
		c.askNow(Want{Times: true, Books: true, Last: true, Usage: true})
	}
}

// wake has the child be asked again.
func (c *Child) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rests = false
}

// Ended reports whether there is no such process any more.
func (c *Child) Ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}
