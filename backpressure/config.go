package backpressure

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"
)

// What a [Config] means where it says nothing.
const (
	DefaultInterval = 100 * time.Millisecond
	DefaultGrace    = 5 * time.Second
	// DefaultDoubt is the default of the clients' delivery timeout (delivery.timeout.ms,
	// KIP-91): a client that gave a record up has no request under way that is older.
	DefaultDoubt = 2 * time.Minute
	// DefaultInherit is what a request of franz-go's producer may take with the client's
	// defaults: 10 s in the broker and 10 s for the answer, and 10 s for the replication.
	DefaultInherit = 30 * time.Second
)

// NoInherit is the [Config.Inherit] of a gate whose share no process had before.
const NoInherit time.Duration = -1

// Config says what a gate is.
type Config struct {
	// Controller decides; nil admits everything.
	Controller Controller
	// Source is what Watch reads; nil where the application calls Report itself.
	Source Source
	// Interval is how often Watch reads the lag; 0 is 100 ms.
	Interval time.Duration
	// Grace is how long the lag may stay unknown before the gate is blind; 0 is 5 s,
	// or three intervals where that is longer. Until then the last ceiling stays in
	// force, which keeps a bound however old it is. A gate that nobody watches is
	// blind likewise once it has refused a record.
	Grace time.Duration
	// FailOpen lets everything through while the gate is blind. Otherwise it
	// admits nothing then.
	FailOpen bool
	// Doubt is how long after Unsure a record may still reach the log; 0 is 2 minutes.
	// It must not be shorter than the client's delivery timeout.
	Doubt time.Duration
	// Share is the part of the bound that this gate may use, where several processes
	// produce to the topic; nil is all of it. The controller must be a [Limiter]: on/off
	// control has nothing to share. With a share, the lag that counts is that of
	// this gate's own records, so Acked must be told where they went, and the readings
	// must have their Partitions.
	Share Share
	// Inherit is for how long a new gate with a [Fixed] share takes over what was produced
	// before it; 0 is 30 s. The process may have been restarted, and its predecessor's
	// records are in the log, or on their way. The gate cannot tell them from others, so all
	// that the group has not committed counts as its own, and it admits less.
	// That ends with the first reading that was asked for so long after New. Inherit must
	// not be shorter than the time in which a request that was under way can still reach
	// the log. [NoInherit] skips it: use it if no process had this share before.
	Inherit time.Duration
	// Now is the clock, on any monotonic axis; nil is the time since New. Goroutines of the
	// gate call it too, so it must be safe for concurrent use.
	Now func() time.Duration
	// OnChange is told what changed, on the goroutine that noticed; nil is nobody.
	// It may use the gate.
	OnChange func(Change)
	// Logger takes the same; nil logs nothing.
	Logger *slog.Logger
}

// Share is one gate's part of a bound that several gates keep together.
type Share interface {
	// Part is the part that may be used now, from 0 to 1; with 0 the gate admits
	// nothing. It may change at any time;
	// the gate asks at each Report and Advance, and Stats.Share tells when it has
	// acted on it. It may look at the gate's Stats, and must not call Report or
	// Advance.
	Part() float64
}

// Fixed is a share that never changes: one of N equal processes has Fixed(1.0/N).
//
// Fixed(1) is a whole bound that is kept by this gate's own count of its records
// instead of the high watermark. That is exact where acks are 1 and the topic is
// replicated: an acknowledged record may then not be below the high watermark yet.
type Fixed float64

// Part implements [Share].
func (f Fixed) Part() float64 { return float64(f) }

// completed returns the config with its defaults, or every fault of it.
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
	_, fixed := c.Share.(Fixed)
	switch {
	case c.Inherit == 0 && fixed:
		c.Inherit = DefaultInherit
	case c.Inherit < 0 && c.Inherit != NoInherit:
		faults = append(faults,
			fmt.Errorf("backpressure: the time of Inherit must not be negative: %v; NoInherit is for none", c.Inherit))
	case c.Inherit > 0 && !fixed:
		faults = append(faults, fmt.Errorf("backpressure: Inherit is %v, but only a gate with a Fixed share inherits",
			c.Inherit))
	}
	return c, errors.Join(faults...)
}

// held is every fault of what the config holds: pointers that are nil in an
// interface that is not, and shares of nothing.
func (c Config) held() error {
	var faults []error
	for _, held := range []struct {
		name string
		is   any
	}{{"controller", c.Controller}, {"source", c.Source}, {"share", c.Share}} {
		if v := reflect.ValueOf(held.is); v.Kind() == reflect.Pointer && v.IsNil() {
			faults = append(faults,
				fmt.Errorf("backpressure: the %s is a nil %T: look at the error of its constructor", held.name,
					held.is))
		}
	}
	if c.Share == nil || len(faults) > 0 {
		return errors.Join(faults...)
	}
	fixed, isFixed := c.Share.(Fixed)
	limiter, bounds := c.Controller.(Limiter)
	switch {
	case isFixed && !(fixed > 0 && fixed <= 1):
		faults = append(faults, fmt.Errorf("backpressure: a fixed share is above 0 and at most 1, not %v",
			float64(fixed)))
	case !bounds:
		faults = append(faults,
			fmt.Errorf("backpressure: there is no bound to share: %T has none; a gate with a share needs a controller that is a Limiter", c.Controller))
	case isFixed && part(fixed.Part(), limiter.Limit()) == 0:
		faults = append(faults,
			fmt.Errorf("backpressure: a share of %v of a bound of %d is not one whole record, so the gate would never open", float64(fixed), limiter.Limit()))
	}
	return errors.Join(faults...)
}
