package backpressure

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// NoInherit is the [Config.Inherit] of a gate whose share no process had before.
const NoInherit time.Duration = -1

// Config configures a gate.
type Config struct {
	// Controller is [Credit] or [Latency]; nil admits everything.
	Controller Controller
	// Source is what the gate reads. A gate with a controller needs one.
	Source Source
	// Interval is how often the gate reads the lag; 0 is 100 ms.
	Interval time.Duration
	// Grace is how long the lag may be unknown before the gate is blind; 0 is 5 s, or three
	// intervals if that is longer. Until then the last bound stays in force.
	Grace time.Duration
	// FailOpen makes a blind gate admit everything. By default it admits nothing.
	FailOpen bool
	// Doubt is how long after Unsure a record may still reach the log; 0 is 2 minutes, Kafka's default
	// of delivery.timeout.ms (KIP-91). It must not be shorter than the client's delivery timeout.
	Doubt time.Duration
	// Share is this gate's part of the bound if several processes produce to the topic: see [Fixed].
	// With a share, only this gate's records count as lag: call Acked for each record, and let the
	// source return Partitions. The gate notices a recreated topic only if its log ends below what was
	// committed before.
	Share Share
	// Inherit is for how long a new gate with a share counts all uncommitted records as its own,
	// because some may be its predecessor's; 0 is 30 s. The gate admits less meanwhile. This ends with
	// the first reading that is requested at least that long after Open. Inherit must not be shorter
	// than the time in which a request of the predecessor can reach the log. [NoInherit] skips it.
	Inherit time.Duration
	// OnChange is called with each change, on the goroutine that detected it; nil is never called. It
	// may use the gate, except Close.
	OnChange func(Change)
	// Logger logs the same changes; nil logs nothing.
	Logger *slog.Logger
}

// Controller decides how many records may be admitted: [Credit] or [Latency].
type Controller interface {
	controller() (lagcontrol.Controller, error)
}

// Credit keeps the lag at or below a bound at every moment. It is window flow control, as in TCP's
// receive window or reactive streams' request(n). docs/backpressure.md has the proof.
//
// Failure modes. Records count until they are committed. Consumers that keep up at a rate r and
// commit every T need a bound above r × (T + the reading's age). A bound in records does not limit
// time. Records from before the gate count too, so a backlog keeps the gate closed until the group
// has consumed it. Committed offsets that are set back by hand raise the lag at once.
type Credit struct {
	// MaxLag is the bound in records, above 0.
	MaxLag int64
}

func (c Credit) controller() (lagcontrol.Controller, error) { return lagcontrol.NewCredit(c.MaxLag) }

// Latency holds a time instead of a number of records: by Little's law, the bound is the consumers'
// capacity × Target. The gate estimates the capacity and the progress between two commits.
//
// Failure modes. A fall of the capacity shows after one commit interval. Until then records are
// admitted at the old rate, so after a fall to 1/k of the capacity some records wait k × Target and
// more. If commits are over 2 s apart, the gate finds a larger capacity slowly. It cannot hold a
// target below about 2.5 × Config.Interval. It measures no rate if the work on one record takes a good
// part of the target.
type Latency struct {
	// Target is the time that a record may take from its admission until a consumer takes it.
	Target time.Duration
	// MaxLag limits the lag in records, as [Credit] does; 0 is no limit.
	MaxLag int64
	// Start is the bound in records until the first rate is known; 0 is 500.
	Start int64
}

func (l Latency) controller() (lagcontrol.Controller, error) {
	return lagcontrol.NewLatency(lagcontrol.LatencyConfig(l))
}

// Share is one gate's part of a bound that several gates keep together. The zero value is a gate
// without others.
type Share struct{ share lagcontrol.Share }

// Fixed returns a constant share, above 0 and at most 1: each of N equal processes has
// Fixed(1.0/N).
//
// With Fixed(1) the gate has the whole bound, and counts its own records instead of using the high
// watermark. Then the bound is exact also with acks=1 on a replicated topic.
func Fixed(part float64) Share { return Share{lagcontrol.Fixed(part)} }

func (c Config) internal() (lagcontrol.Config, error) {
	cfg := lagcontrol.Config{
		Interval: c.Interval, Grace: c.Grace, FailOpen: c.FailOpen, Doubt: c.Doubt, Share: c.Share.share,
		Inherit: c.Inherit, Logger: c.Logger,
	}
	if c.OnChange != nil {
		cfg.OnChange = func(change lagcontrol.Change) { c.OnChange(publicChange(change)) }
	}
	var err error
	switch {
	case isNil(c.Controller):
		err = errors.New("backpressure: the controller is a nil pointer: use a value, such as Credit{MaxLag: 5000}")
	case c.Controller != nil:
		cfg.Controller, err = c.Controller.controller()
	}
	switch {
	case isNil(c.Source):
		err = errors.Join(err, fmt.Errorf("backpressure: the source is a nil %T: look at the error of its constructor",
			c.Source))
	case c.Source != nil:
		cfg.Source = lagcontrol.SourceFunc(readFrom(c.Source))
	case c.Controller != nil:
		err = errors.Join(err, errors.New("backpressure: there is no lag to go by: set Config.Source"))
	}
	return cfg, err
}

func isNil(v any) bool {
	value := reflect.ValueOf(v)
	return value.Kind() == reflect.Pointer && value.IsNil()
}
