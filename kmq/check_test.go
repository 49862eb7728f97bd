package kmq

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func valid(e Engine) Config {
	return Config{Brokers: []string{"localhost:9092"}, Topic: "orders", Group: "billing", Engine: e}
}

func TestDefaults(t *testing.T) {
	for _, e := range []Engine{nil, OffsetMap{}, Markers{}, Plain{}, Share{}} {
		c, err := valid(e).resolve()
		if err != nil {
			t.Errorf("%v: %v", e, err)
			continue
		}
		want := map[Engine]time.Duration{nil: 30 * time.Second, OffsetMap{}: 30 * time.Second, Markers{}: 30 * time.Second}[e]
		if c.Visibility != want {
			t.Errorf("%v: Visibility %v, want %v", e, c.Visibility, want)
		}
		if c.MaxInFlight != 1000 || c.CommitEvery != time.Second || c.Acks != AcksAll || c.Retry == nil || c.Logger == nil {
			t.Errorf("%v: %+v", e, c)
		}
		byDefault := OffsetMap{InPlace: time.Minute, RetryTopic: "orders.billing.retry", RetryBytes: 16 << 20}
		filled := map[Engine]Engine{nil: byDefault, OffsetMap{}: byDefault, Markers{}: Markers{Topic: "orders-markers", RetryTopic: "orders.billing.retry"}, Plain{}: Plain{}, Share{}: Share{RetryTopic: "orders.billing.retry"}}
		if c.Engine != filled[e] {
			t.Errorf("%v: %+v", e, c.Engine)
		}
		again, err := c.resolve()
		if err != nil || again.engine().Visibility != c.Visibility {
			t.Errorf("%v: what was resolved is not valid: %v", e, err)
		}
	}
}

func TestFaultsOfAConfiguration(t *testing.T) {
	for _, c := range []struct {
		name   string
		engine Engine
		change func(*Config)
		want   []string // in the error
	}{
		{"nothing", nil, func(c *Config) { *c = Config{} }, []string{"Brokers", "Topic is empty", "Group is empty"}},
		{"an empty broker", Markers{}, func(c *Config) { c.Brokers = []string{"a:1", ""} }, []string{"Brokers"}},
		{"an illegal topic", Plain{}, func(c *Config) { c.Topic = "a b" }, []string{`Topic is "a b"`}},
		{"a long topic", Plain{}, func(c *Config) { c.Topic = strings.Repeat("x", 250) }, []string{"Topic has 250 characters: Kafka allows 249"}},
		{"a topic too long for markers", Markers{}, func(c *Config) { c.Topic = strings.Repeat("x", 245) }, []string{"Markers.Topic has 253"}},
		{"no such topic name", Plain{}, func(c *Config) { c.Topic = ".." }, []string{`Topic is ".."`}},
		{"a short visibility", Markers{}, func(c *Config) { c.Visibility = time.Millisecond }, []string{"Visibility is 1ms", "from 100ms to 1h0m0s", "30s"}},
		{"a long visibility", OffsetMap{}, func(c *Config) { c.Visibility = 2 * time.Hour }, []string{"Visibility is 2h0m0s"}},
		{"plain with a visibility", Plain{}, func(c *Config) { c.Visibility = time.Second }, []string{"Visibility is set", "choose OffsetMap"}},
		{"a negative limit", Share{}, func(c *Config) { c.MaxDeliveries = -2 }, []string{"MaxDeliveries is -2"}},
		{"a group that is no topic's name", OffsetMap{}, func(c *Config) { c.Group = "my group" }, []string{`DeadLetterTopic is not set, and its default is "orders.my group.dead": Kafka allows letters`}},
		{"a group with a dot", OffsetMap{}, func(c *Config) { c.Group = "a.b" }, []string{"DeadLetterTopic is not set, and its default, orders.a.b.dead, could be another topic and group's too"}},
		{"a long group", OffsetMap{}, func(c *Config) { c.Group = strings.Repeat("g", 250) }, []string{"DeadLetterTopic is not set, and its default has 262 characters"}},
		{"no such order", OffsetMap{}, func(c *Config) { c.Order = "random" }, []string{`Order is "random": choose none, partition or key`}},
		{"an order of a share group", Share{}, func(c *Config) { c.Order = ByKey }, []string{"Order is key, and a share group"}},
		{"dead letters into the queue", Plain{}, func(c *Config) { c.DeadLetterTopic = c.Topic }, []string{"DeadLetterTopic is the queue's own"}},
		{"an illegal dead-letter topic", Plain{}, func(c *Config) { c.DeadLetterTopic = "a/b" }, []string{`DeadLetterTopic is "a/b"`}},
		{"markers into the queue", Markers{Topic: "orders"}, func(*Config) {}, []string{"Markers.Topic is orders"}},
		{"markers among the dead letters", Markers{Topic: "x"}, func(c *Config) { c.DeadLetterTopic = "x" }, []string{"Markers.Topic is x"}},
		{"never in place", OffsetMap{InPlace: -1}, func(*Config) {}, []string{"OffsetMap.InPlace is -1ns: it must be from 1ns to 12h0m0s"}},
		{"a retry topic of an ordered queue", OffsetMap{RetryTopic: "x"}, func(c *Config) { c.Order = ByKey }, []string{"OffsetMap.RetryTopic is set"}},
		{"no memory for retries", OffsetMap{RetryBytes: -1}, func(*Config) {}, []string{"OffsetMap.RetryBytes is -1"}},
		{"retries into the queue", OffsetMap{RetryTopic: "orders"}, func(*Config) {}, []string{"OffsetMap.RetryTopic is orders"}},
		{"nothing in flight", Share{}, func(c *Config) { c.MaxInFlight = -1 }, []string{"MaxInFlight is -1: it must be from 1 to 1000000"}},
		{"all in flight", Share{}, func(c *Config) { c.MaxInFlight = math.MaxInt }, []string{"MaxInFlight is"}},
		{"rare commits", Plain{}, func(c *Config) { c.CommitEvery = time.Hour }, []string{"CommitEvery is 1h0m0s"}},
		{"a short session", Plain{}, func(c *Config) { c.SessionTimeout = time.Millisecond }, []string{"SessionTimeout is 1ms"}},
		{"no such acks", Plain{}, func(c *Config) { c.Acks = "1" }, []string{`Acks is "1"`, "all or leader"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := valid(c.engine)
			c.change(&cfg)
			_, err := cfg.resolve()
			if !errors.Is(err, ErrConfig) {
				t.Fatalf("%v is not ErrConfig", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if n := strings.Count(err.Error(), ";"); n >= max(len(c.want), 2)+1 {
				t.Errorf("%q says more than is wrong", err)
			}
			if _, err := Open(t.Context(), cfg); !errors.Is(err, ErrConfig) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

func TestExponential(t *testing.T) {
	const ms = time.Millisecond
	for attempt, want := range map[int]time.Duration{-1: 100, 1: 100, 2: 200, 3: 400, 4: 800, 5: 1000, 6: 1000, 1 << 30: 1000} {
		if got := exponentialBound(100*ms, 1000*ms, attempt); got != want*ms {
			t.Errorf("after %d attempts below %v, want %v ms", attempt, got, want)
		}
	}
	for _, c := range []struct{ min, max, least, most time.Duration }{
		{100 * ms, 1000 * ms, 0, 400 * ms},
		{time.Minute, time.Second, 0, time.Minute}, // max is at least min
		{0, time.Minute, 0, 0},
		{-1, -1, 0, 0},
		{1 << 62, 1<<63 - 1, 0, MaxDelay},
	} {
		retry := Exponential(c.min, c.max)
		for range 100 {
			if got := retry.delayAfter(3, nil); got < c.least || got > c.most {
				t.Errorf("from %v to %v: %v", c.min, c.max, got)
			}
		}
	}
}
