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
	for _, e := range Engines {
		c, err := valid(e).resolve()
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}
		want := map[Engine]time.Duration{Plain: 0, Share: 0, Markers: 30 * time.Second, OffsetMap: 30 * time.Second}[e]
		if c.Visibility != want {
			t.Errorf("%s: Visibility %v, want %v", e, c.Visibility, want)
		}
		if c.MaxInFlight != 1000 || c.CommitEvery != time.Second || c.Acks != AcksAll || c.Backoff != (Backoff{100 * time.Millisecond, time.Minute}) || c.Logger == nil {
			t.Errorf("%s: %+v", e, c)
		}
		if (c.MarkersTopic == "orders-markers" && c.Tracker == InProcess) != (e == Markers) || (c.InPlace == time.Minute) != (e == OffsetMap) {
			t.Errorf("%s: %+v", e, c)
		}
		again, err := c.resolve()
		if err != nil || again.engine().Visibility != c.Visibility {
			t.Errorf("%s: what was resolved is not valid: %v", e, err)
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
		{"nothing", "", func(c *Config) { *c = Config{} }, []string{"Brokers", "Topic is empty", "Group is empty", `Engine is ""`, "plain, markers, offsetmap, share"}},
		{"an empty broker", Markers, func(c *Config) { c.Brokers = []string{"a:1", ""} }, []string{"Brokers"}},
		{"an illegal topic", Markers, func(c *Config) { c.Topic = "a b" }, []string{`Topic is "a b"`}},
		{"a long topic", Plain, func(c *Config) { c.Topic = strings.Repeat("x", 250) }, []string{"Topic has 250 characters: Kafka allows 249"}},
		{"a topic too long for markers", Markers, func(c *Config) { c.Topic = strings.Repeat("x", 245) }, []string{"MarkersTopic has 253"}},
		{"no such topic name", Plain, func(c *Config) { c.Topic = ".." }, []string{`Topic is ".."`}},
		{"no such engine", "kafka", func(*Config) {}, []string{`Engine is "kafka"`}},
		{"a short visibility", Markers, func(c *Config) { c.Visibility = time.Millisecond }, []string{"Visibility is 1ms", "from 100ms to 1h0m0s", "30s"}},
		{"a long visibility", OffsetMap, func(c *Config) { c.Visibility = 2 * time.Hour }, []string{"Visibility is 2h0m0s"}},
		{"plain with a visibility", Plain, func(c *Config) { c.Visibility = time.Second }, []string{"Visibility is set", "choose markers"}},
		{"a negative limit", Share, func(c *Config) { c.MaxDeliveries = -2 }, []string{"MaxDeliveries is -2"}},
		{"a group that is no topic's name", OffsetMap, func(c *Config) { c.Group = "my group" }, []string{`DeadLetterTopic is not set, and its default is "orders.my group.dead": Kafka allows letters`}},
		{"a group with a dot", OffsetMap, func(c *Config) { c.Group = "a.b" }, []string{"DeadLetterTopic is not set, and its default, orders.a.b.dead, could be another topic and group's too"}},
		{"a long group", OffsetMap, func(c *Config) { c.Group = strings.Repeat("g", 250) }, []string{"DeadLetterTopic is not set, and its default has 262 characters"}},
		{"no such order", OffsetMap, func(c *Config) { c.Order = "random" }, []string{`Order is "random": choose none, partition or key`}},
		{"an order of a share group", Share, func(c *Config) { c.Order = ByKey }, []string{"Order is key, and a share group"}},
		{"dead letters into the queue", Plain, func(c *Config) { c.DeadLetterTopic = c.Topic }, []string{"DeadLetterTopic is the queue's own"}},
		{"an illegal dead-letter topic", Plain, func(c *Config) { c.DeadLetterTopic = "a/b" }, []string{`DeadLetterTopic is "a/b"`}},
		{"markers into the queue", Markers, func(c *Config) { c.MarkersTopic = c.Topic }, []string{"MarkersTopic is orders"}},
		{"markers among the dead letters", Markers, func(c *Config) { c.MarkersTopic, c.DeadLetterTopic = "x", "x" }, []string{"MarkersTopic is x"}},
		{"markers of another engine", OffsetMap, func(c *Config) { c.MarkersTopic, c.Tracker = "x", External }, []string{"MarkersTopic is set", "Tracker is set"}},
		{"no such tracker", Markers, func(c *Config) { c.Tracker = "somewhere" }, []string{`Tracker is "somewhere"`, "in-process or external"}},
		{"in place elsewhere", Markers, func(c *Config) { c.InPlace = 3 }, []string{"InPlace or RetryBytes is set"}},
		{"never in place", OffsetMap, func(c *Config) { c.InPlace = -1 }, []string{"InPlace is -1ns: it must be from 1ns to 12h0m0s"}},
		{"nothing in flight", Share, func(c *Config) { c.MaxInFlight = -1 }, []string{"MaxInFlight is -1: it must be from 1 to 1000000"}},
		{"all in flight", Share, func(c *Config) { c.MaxInFlight = math.MaxInt }, []string{"MaxInFlight is"}},
		{"rare commits", Plain, func(c *Config) { c.CommitEvery = time.Hour }, []string{"CommitEvery is 1h0m0s"}},
		{"a short session", Plain, func(c *Config) { c.SessionTimeout = time.Millisecond }, []string{"SessionTimeout is 1ms"}},
		{"no such acks", Plain, func(c *Config) { c.Acks = "1" }, []string{`Acks is "1"`, "all or leader"}},
		{"a falling backoff", Plain, func(c *Config) { c.Backoff = Backoff{time.Minute, time.Second} }, []string{"Backoff is from 1m0s to 1s"}},
		{"a negative backoff", Plain, func(c *Config) { c.Backoff = Backoff{-1, time.Second} }, []string{"Backoff is from -1ns"}},
		{"a long backoff", Plain, func(c *Config) { c.Backoff = Backoff{0, 2 * time.Hour} }, []string{"Backoff is from 0s to 2h0m0s"}},
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

func TestBackoff(t *testing.T) {
	b := Backoff{Min: 100 * time.Millisecond, Max: time.Second}
	for attempts, want := range map[int]time.Duration{1: 100, 2: 200, 3: 400, 4: 800, 5: 1000, 6: 1000, 1 << 30: 1000} {
		if got := b.after(attempts); got != want*time.Millisecond {
			t.Errorf("after %d attempts %v, want %v ms", attempts, got, want)
		}
	}
	if got := (Backoff{}).after(1 << 30); got != 0 {
		t.Errorf("no backoff is %v", got)
	}
	if got := (Backoff{Min: time.Minute, Max: time.Minute}).after(1 << 30); got != time.Minute {
		t.Errorf("a constant one is %v", got)
	}
}
