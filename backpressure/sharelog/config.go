package sharelog

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/shares"
)

// What a [Config] means where it says nothing.
const (
	DefaultBeat  = 500 * time.Millisecond
	DefaultLease = 5 * time.Second
)

// Config says which bound a process takes part in, and how.
type Config struct {
	// Brokers are host:port addresses to begin with; Client takes what else a client
	// of the cluster needs, such as TLS and SASL, and may name the brokers itself.
	Brokers []string
	Client  []kgo.Opt
	// Topic has one partition and is made if it is missing, with Replication
	// replicas; 0 is the brokers' default. Several bounds may use one topic.
	Topic       string
	Replication int16

	// Bound is the name of the bound, the same in all processes that keep it.
	// The name of the consumer group whose lag it is does well.
	Bound string
	// Records is the bound itself, the same in all processes and in the controllers of
	// their gates: the lag in records that all together may cause, or in each partition
	// where the gate is a [backpressure.Partitioned]. 0 is whatever bound a controller
	// without a fixed one has in force.
	Records int64
	// Member names this process in events; what makes it unique is added at each join.
	Member string

	// Beat is how often the process tells the others of itself; 0 is 500 ms.
	Beat time.Duration
	// Lease is how long the others wait for a beat before they take the process for
	// dead; 0 is 5 s. It must be at least four beats.
	Lease time.Duration
	// Margin is how much earlier than that the process stops by itself. It covers
	// clocks that run at different rates; 0 is a tenth of the lease.
	Margin time.Duration
	// Grace is how long after the lease a dead process's records may still reach the
	// log; 0 is 2 minutes. It must not be shorter than the delivery timeout of the
	// producers' clients.
	Grace time.Duration
	// Floor is the part that a process keeps while it sends nothing, so that it can
	// start; 0 is a twentieth, and never more than a quarter of an equal part.
	Floor float64

	// Source reads the lag of the group, with its Partitions. It is asked while a dead
	// process's part waits to be reclaimed, and not otherwise. It may be the one that
	// the gate reads.
	Source backpressure.Source
	// OnFenced is called, on a goroutine of its own, each time that the process loses its
	// part because it is not heard, or the log can't be followed: from then on the
	// others wait for the grace time, and what is still in the client's buffer
	// after that is more than the bound allows. Abort it there (franz-go:
	// AbortBufferedRecords); what was sent already may be in the log nonetheless, so the
	// gate is to be told Unsure of it. Close waits until it returns; nil is nobody.
	OnFenced func()
	// OnChange is told what changed, on the goroutine that noticed; nil is nobody.
	OnChange func(Change)
	// Logger takes the same; nil logs nothing.
	Logger *slog.Logger
}

// completed returns the config with its defaults, or every fault of it.
func (c Config) completed() (Config, error) {
	if c.Beat == 0 {
		c.Beat = DefaultBeat
	}
	if c.Lease == 0 {
		c.Lease = DefaultLease
	}
	if c.Margin == 0 {
		c.Margin = c.Lease / 10
	}
	if c.Grace == 0 {
		c.Grace = backpressure.DefaultDoubt
	}
	if c.Floor == 0 {
		c.Floor = shares.DefaultFloor.Of(1)
	}
	return c, errors.Join(c.faults()...)
}

func (c Config) faults() []error {
	var faults []error
	check := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("sharelog: "+format, args...))
		}
	}
	check(len(c.Brokers) == 0 && len(c.Client) == 0, "no brokers: give Brokers, or options of a client that name them")
	check(c.Topic == "", "no topic to keep the shares in")
	check(c.Bound == "", "no name for the bound")
	check(c.Records < 0, "the bound must not be negative: %d records", c.Records)
	check(c.Beat < 0, "the time between two beats must not be negative: %v", c.Beat)
	check(c.Lease < 4*c.Beat, "a lease of %v is too short for a beat every %v: it must be at least four beats",
		c.Lease, c.Beat)
	check(c.Margin < 0 || c.Margin > c.Lease/2, "the margin %v must be positive and at most half of the lease %v",
		c.Margin, c.Lease)
	check(c.Grace < 0, "the grace time must not be negative: %v", c.Grace)
	check(c.Floor < 0 || c.Floor > 1, "the floor is a part from 0 to 1, not %v", c.Floor)
	check(c.Source == nil, "no source of the lag: without it a dead process's part can never be reclaimed")
	return faults
}
