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

// The defaults of a [Config].
const (
	DefaultBeat  = 500 * time.Millisecond
	DefaultLease = 5 * time.Second
)

// Config says which bound a process takes part in, and how.
type Config struct {
	// Brokers are host:port addresses to begin with. Client holds further options, such as TLS and
	// SASL, and may name the brokers itself.
	Brokers []string
	Client  []kgo.Opt
	// Topic has one partition. Join creates it if it is missing, with Replication
	// replicas; 0 is the brokers' default. Several bounds may use one topic.
	Topic       string
	Replication int16

	// Bound is the name of the bound, the same in all its processes, for instance the name of the
	// consumer group.
	Bound string
	// Records is the bound: the lag in records that all processes together may cause; per partition
	// with a [backpressure.Partitioned]. Give all processes and their gates' controllers the same
	// value. 0 stands for the bound that the controller has in force.
	Records int64
	// Member names this process in events. Each join adds a unique suffix.
	Member string

	// Beat is how often the process writes a beat; 0 is 500 ms.
	Beat time.Duration
	// Lease is how long the others wait for a beat before the process counts as dead; 0
	// is 5 s. It must be at least four beats.
	Lease time.Duration
	// Margin is how long before the end of the lease the process stops by itself, in case clocks
	// run at different rates. 0 is a tenth of the lease; half of the lease is the maximum.
	Margin time.Duration
	// Grace is how long after the lease a dead process's records may still reach the log;
	// 0 is 2 minutes. It must not be shorter than the delivery timeout of the producers'
	// clients.
	Grace time.Duration
	// Floor is the part that an idle process keeps, so that it can start, from 0 to 1; 0 is a
	// twentieth. It is never more than a quarter of an equal part.
	Floor float64

	// Source reads the lag of the group, with its Partitions, while a dead process's part waits to
	// be reclaimed. It may be the gate's source.
	Source backpressure.Source
	// OnFenced is called, on its own goroutine, each time that the process loses its part: its
	// beats do not come back, or the log can't be followed. Others may use the part after the grace
	// time, so let OnFenced abort the client's buffered records (franz-go: AbortBufferedRecords).
	// Records that were sent before may still be in the log: report them with Unsure. Close waits
	// until OnFenced returns; nil is never called.
	OnFenced func()
	// OnChange is called with each change, on the goroutine that noticed it; nil is never
	// called.
	OnChange func(Change)
	// Logger logs the same changes; nil logs nothing.
	Logger *slog.Logger
}

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
