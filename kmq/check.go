package kmq

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

const (
	defaultVisibility  = 30 * time.Second
	defaultMaxInFlight = 1000
	defaultCommitEvery = time.Second
	defaultInPlace     = 3
	defaultBackoffMin  = 100 * time.Millisecond
	defaultBackoffMax  = time.Minute

	maxInFlight   = 1_000_000
	maxDeliveries = 1_000_000
	maxInPlace    = 1000
	maxTopicName  = 249
)

// resolve checks a configuration and fills in its defaults. The error is ErrConfig and
// names every fault.
func (c Config) resolve() (Config, error) {
	f := new(faults)
	c.required(f)
	c.lending(f)
	c.givingUp(f)
	c.byEngine(f)
	c.backoff(f)
	c.rest(f)
	return c, f.err()
}

// faults are what is wrong with a configuration.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f *faults) err() error {
	if len(*f) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrConfig, strings.Join(*f, "; "))
}

// between fills in a default and holds a duration to a range.
func (f *faults) between(name string, d *time.Duration, byDefault, from, to time.Duration) {
	if *d == 0 {
		*d = byDefault
	}
	if *d < from || *d > to {
		f.add("%s is %v: it must be from %v to %v (0 is the default, %v)", name, *d, from, to, byDefault)
	}
}

// count fills in a default and holds a number to a range.
func (f *faults) count(name string, n *int, byDefault, from, to int) {
	if *n == 0 {
		*n = byDefault
	}
	if *n < from || *n > to {
		f.add("%s is %d: it must be from %d to %d (0 is the default, %d)", name, *n, from, to, byDefault)
	}
}

func (c *Config) required(f *faults) {
	if len(c.Brokers) == 0 || slices.Contains(c.Brokers, "") {
		f.add("Brokers must have at least one host:port, and no empty one")
	}
	f.topic("Topic", c.Topic)
	if c.Group == "" {
		f.add("Group is empty: queues with the same group share the records")
	}
	if !slices.Contains(Engines, c.Engine) {
		f.add("Engine is %q: choose one of %s", c.Engine, engineNames())
	}
}

func engineNames() string {
	names := make([]string, len(Engines))
	for i, e := range Engines {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}

// topic holds a name to what Kafka allows.
func (f *faults) topic(field, name string) {
	legal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case name == "":
		f.add("%s is empty", field)
	case len(name) > maxTopicName:
		f.add("%s has %d characters: Kafka allows %d", field, len(name), maxTopicName)
	case name == "." || name == ".." || strings.ContainsFunc(name, func(r rune) bool { return !legal(r) }):
		f.add("%s is %q: Kafka allows letters, digits, '.', '_' and '-'", field, name)
	}
}

// lending is the time that records are lent for.
func (c *Config) lending(f *faults) {
	switch {
	case c.Engine == Plain && c.Visibility != 0:
		f.add("Visibility is set, and engine plain can't deliver a record again while its consumer lives: leave it 0, or choose markers, offsetmap or share")
	case c.Engine == Plain, c.Engine == Share && c.Visibility == 0:
	default:
		f.between("Visibility", &c.Visibility, defaultVisibility, 100*time.Millisecond, time.Hour)
	}
}

func (c *Config) givingUp(f *faults) {
	switch {
	case c.MaxDeliveries < 0 || c.MaxDeliveries > maxDeliveries:
		f.add("MaxDeliveries is %d: it must be from 0, which is no limit, to %d", c.MaxDeliveries, maxDeliveries)
	case c.MaxDeliveries > 0 && c.Engine == Plain:
		f.add("MaxDeliveries is set, and engine plain does not count deliveries: leave it 0, or choose markers, offsetmap or share")
	case c.MaxDeliveries > 0 && c.DeadLetterTopic == "":
		f.add("MaxDeliveries is %d without a DeadLetterTopic to put records into: set one", c.MaxDeliveries)
	}
	if c.DeadLetterTopic == "" {
		return
	}
	f.topic("DeadLetterTopic", c.DeadLetterTopic)
	if c.DeadLetterTopic == c.Topic {
		f.add("DeadLetterTopic is the queue's own topic, where what was given up would be delivered again: name another")
	}
}

// byEngine is what only one of the engines has.
func (c *Config) byEngine(f *faults) {
	if c.Engine == Markers {
		c.markers(f)
	} else {
		for _, only := range []struct {
			name string
			set  bool
		}{
			{"MarkersTopic", c.MarkersTopic != ""},
			{"Tracker", c.Tracker != ""},
			{"Transactions", c.Transactions},
			{"StartFirst", c.StartFirst},
		} {
			if only.set {
				f.add("%s is set, which only engine markers has: leave it out with engine %q", only.name, c.Engine)
			}
		}
	}
	switch {
	case c.Engine == OffsetMap:
		f.count("InPlace", &c.InPlace, defaultInPlace, 1, maxInPlace)
	case c.InPlace != 0:
		f.add("InPlace is set, which only engine offsetmap has: leave it out with engine %q", c.Engine)
	}
}

func (c *Config) markers(f *faults) {
	if c.MarkersTopic == "" {
		c.MarkersTopic = c.Topic + "-markers"
	}
	f.topic("MarkersTopic", c.MarkersTopic)
	if c.MarkersTopic == c.Topic || c.MarkersTopic == c.DeadLetterTopic {
		f.add("MarkersTopic is %s, which is the queue's own topic or that of its dead letters: name another", c.MarkersTopic)
	}
	switch c.Tracker {
	case "":
		c.Tracker = InProcess
	case InProcess, External:
	default:
		f.add("Tracker is %q: choose %s or %s", c.Tracker, InProcess, External)
	}
	if c.Transactions && c.Acks == AcksLeader {
		f.add("Transactions need Acks %s: with %s they could be half written", AcksAll, AcksLeader)
	}
}

func (c *Config) backoff(f *faults) {
	if c.Backoff == (Backoff{}) {
		c.Backoff = Backoff{Min: defaultBackoffMin, Max: defaultBackoffMax}
	}
	if c.Backoff.Max == 0 {
		c.Backoff.Max = max(c.Backoff.Min, defaultBackoffMax)
	}
	if c.Backoff.Min < 0 || c.Backoff.Max < c.Backoff.Min || c.Backoff.Max > time.Hour {
		f.add("Backoff is from %v to %v: it must rise, from 0 or more to at most 1h0m0s", c.Backoff.Min, c.Backoff.Max)
	}
}

func (c *Config) rest(f *faults) {
	f.count("MaxInFlight", &c.MaxInFlight, defaultMaxInFlight, 1, maxInFlight)
	f.between("CommitEvery", &c.CommitEvery, defaultCommitEvery, time.Millisecond, time.Minute)
	if s := c.SessionTimeout; s != 0 && (s < time.Second || s > 30*time.Minute) {
		f.add("SessionTimeout is %v: it must be from 1s to 30m0s (0 is the client's default)", s)
	}
	switch c.Acks {
	case "":
		c.Acks = AcksAll
	case AcksAll, AcksLeader:
	default:
		f.add("Acks is %q: choose %s or %s", c.Acks, AcksAll, AcksLeader)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// engine is what the engine is opened with; c is resolved.
func (c *Config) engine() engine.Config {
	return engine.Config{
		Brokers: c.Brokers, Topic: c.Topic, Group: c.Group,
		Visibility: c.Visibility, MaxDeliveries: c.MaxDeliveries, DeadLetterTopic: c.DeadLetterTopic,
		MaxInFlight: c.MaxInFlight, CommitEvery: c.CommitEvery,
		MarkersTopic: c.MarkersTopic, ExternalTracker: c.Tracker == External, Transactions: c.Transactions, StartFirst: c.StartFirst,
		InPlace: c.InPlace, AcksLeader: c.Acks == AcksLeader, SessionTimeout: c.SessionTimeout,
		Client: c.Client,
		Log:    c.Logger.With("topic", c.Topic, "group", c.Group, "engine", string(c.Engine)),
	}
}
