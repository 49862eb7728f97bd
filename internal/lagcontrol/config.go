package lagcontrol

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// The defaults of a [Config].
const (
	DefaultInterval = 100 * time.Millisecond
	DefaultGrace    = 5 * time.Second
	// DefaultDoubt is Kafka's default of delivery.timeout.ms (KIP-91).
	DefaultDoubt = 2 * time.Minute
	// DefaultInherit is the longest time in which a produce request with franz-go's defaults can
	// reach the log.
	DefaultInherit = 30 * time.Second
)

// NoInherit is the [Config.Inherit] of a gate whose share no process had before.
const NoInherit time.Duration = -1

// Config configures a gate.
type Config struct {
	// Controller decides; nil admits everything.
	Controller Controller
	// Source is what Watch reads; nil if the application calls Report itself.
	Source Source
	// Interval is how often Watch reads the lag; 0 is 100 ms.
	Interval time.Duration
	// Grace is how long the lag may be unknown before the gate is blind; 0 is 5 s, or three
	// intervals if that is longer. Until then the last ceiling stays in force. Without Watch, the
	// gate checks the time only after it has refused a record.
	Grace time.Duration
	// FailOpen makes a blind gate admit everything. By default it admits nothing.
	FailOpen bool
	// Doubt is how long after Unsure a record may still reach the log; 0 is 2 minutes. It must not
	// be shorter than the client's delivery timeout.
	Doubt time.Duration
	// Share is this gate's part of the bound if several processes produce to the topic: see
	// [Fixed]. The controller must be a [Limiter]. With a share, only this gate's records count as
	// lag: call Acked for each record, and give readings with Partitions. The gate notices a
	// recreated topic only if its log ends below what was committed before.
	Share Share
	// Inherit is for how long a new gate with a share counts all uncommitted records as its own,
	// because some may be its predecessor's; 0 is 30 s. The gate admits less meanwhile. This
	// ends with the first reading that is requested at least that long after New. Inherit must not
	// be shorter than the time in which a request of the predecessor can reach the log. [NoInherit]
	// skips it.
	Inherit time.Duration
	// Now is the clock, monotonic and safe for concurrent use; nil is the time since New.
	Now func() time.Duration
	// OnChange is called with each change, on the goroutine that detected it; nil is never called.
	// It may use the gate.
	OnChange func(Change)
	// Logger logs the same changes; nil logs nothing.
	Logger *slog.Logger
}

// Share is one gate's part of a bound that several gates keep together. The zero value is a gate
// without others.
type Share struct {
	of    float64
	given bool
}

// Fixed returns a constant share, above 0 and at most 1: each of N equal processes has
// Fixed(1.0/N).
//
// With Fixed(1) the gate has the whole bound, and counts its own records instead of using the high
// watermark. Then the bound is exact also with acks=1 on a replicated topic.
func Fixed(part float64) Share { return Share{of: part, given: true} }

func (s Share) part() float64 {
	if !s.given {
		return 1
	}
	return s.of
}

func (c Config) completed() (Config, error) {
	var faults []error
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"interval", c.Interval}, {"grace time", c.Grace}, {"time of doubt", c.Doubt}} {
		if d.is < 0 {
			faults = append(faults, fmt.Errorf("backpressure: the %s must not be negative: %v", d.name, d.is))
		}
	}
	if c.Interval == 0 {
		c.Interval = DefaultInterval
	}
	if c.Grace == 0 {
		c.Grace = max(DefaultGrace, 3*c.Interval)
	}
	if c.Grace > 0 && c.Grace <= c.Interval {
		faults = append(faults,
			fmt.Errorf("backpressure: the grace time %v must be longer than the interval %v, or the gate is blind between two readings", c.Grace, c.Interval))
	}
	if c.Doubt == 0 {
		c.Doubt = DefaultDoubt
	}
	switch {
	case c.Inherit == 0 && c.Share.given:
		c.Inherit = DefaultInherit
	case c.Inherit < 0 && c.Inherit != NoInherit:
		faults = append(faults,
			fmt.Errorf("backpressure: Inherit must not be negative: %v; use NoInherit to skip it", c.Inherit))
	case c.Inherit > 0 && !c.Share.given:
		faults = append(faults, fmt.Errorf("backpressure: Inherit is %v, but only a gate with a share inherits",
			c.Inherit))
	}
	return c, errors.Join(faults...)
}

func (c Config) checkShare() error {
	if !c.Share.given {
		return nil
	}
	share := c.Share.of
	limiter, bounds := c.Controller.(Limiter)
	switch {
	case !(share > 0 && share <= 1):
		return fmt.Errorf("backpressure: a share is above 0 and at most 1, not %v", share)
	case !bounds:
		return fmt.Errorf("backpressure: there is no bound to share: %T has none; give a gate with a share a controller that bounds the lag",
			c.Controller)
	case part(share, limiter.Limit()) == 0:
		return fmt.Errorf("backpressure: a share of %v of a bound of %d is not one whole record, so the gate would never open", share, limiter.Limit())
	}
	return nil
}
