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

// A Child keeps its last snapshot for when it is late, paused or ended.

var errNotRunning = errors.New("the process is paused or has ended")

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

func (c *Child) expect(a Assignment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partitions = a.Partitions
	c.last = snapshot.Snapshot{Version: Version, Part: a.Part, FromNs: math.MaxInt64, ToNs: math.MinInt64}
	if a.Group == nil {
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
	if !c.soon(func() { s = c.ask(w) }) {
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
	c.settle() // its times are in no other answer
	return s, c.Err()
}

func (c *Child) ask(w Want) snapshot.Snapshot {
	if !c.begin() {
		return c.told()
	}
	defer c.waiting.Done()
	return c.askNow(w)
}

func (c *Child) askNow(w Want) snapshot.Snapshot {
	var s snapshot.Snapshot
	if c.Err() != nil || c.Call(PartName+".Snapshot", w, &s) != nil {
		return c.told()
	}
	return c.keep(s)
}

// After an unexpected end, due times of open records are unknown and no record waits at the source.
func (c *Child) told() snapshot.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.last
	if c.err != nil {
		s.Behind, s.DeferredPeak = snapshot.Behind{AckedIn: s.Behind.AckedIn}, 0
	}
	return s
}

// keep stores a snapshot and returns it. Fields that were not requested have the values that the
// child reported last. A late snapshot updates only the optional fields that it has.
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
	c.last.Pauses, c.last.Told = nil, nil // each value is reported once
	return told
}

func (c *Child) giveUp(why error) {
	c.fail(why)
	c.worker.kill()
	<-c.gone
}

// AddTo adds the histograms to a collector.
func (c *Child) AddTo(to *latency.Collector) { to.AddSource(c) }

// Recorded implements latency.Source with the histograms of snapshots.
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

// Done is closed when the producers' records are completed, or when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Spent is closed when the producers have offered their part of the volume.
func (c *Child) Spent() <-chan struct{} { return c.spent }

// Spending returns how the volume ended. It is valid after Spent is closed.
func (c *Child) Spending() snapshot.Spending { return c.spending }

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

func (c *Child) relay(encoded []byte, tell func(result.Event)) {
	var events []result.Event
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&events); err != nil {
		c.giveUp(fmt.Errorf("its events can't be decoded: %w", err))
		return
	}
	for _, e := range events {
		if e.Data == nil {
			e.Data = make(map[string]any)
		}
		tell(e)
	}
}

func (c *Child) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.rests {
		c.waiting.Add(1)
	}
	return !c.rests
}

// rest blocks new requests, waits for pending ones, and then requests everything once more. If the
// child hangs, that takes one answerTimeout, and Call ends the child.
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

func (c *Child) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rests = false
}

// Ended reports whether the process has ended.
func (c *Child) Ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}
