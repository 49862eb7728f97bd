package markers

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/retention"
)

// What is needed of both topics: what is lent, or what was not read.
func TestNeeds(t *testing.T) {
	cfg := &engine.Config{Topic: "queue", MarkersTopic: "markers"}
	at := func(topic string, offset int64) kadm.OffsetResponses {
		return kadm.OffsetResponses{topic: {3: {Offset: kadm.Offset{Topic: topic, Partition: 3, At: offset}}}}
	}
	lent := func(offset int64) retention.Need {
		return retention.Need{Topic: "queue", Partition: 3, From: offset, Record: true}
	}
	waits := func(offset int64) retention.Need {
		return retention.Need{Topic: "queue", Partition: 3, From: offset}
	}
	markers := func(offset int64) retention.Need {
		return retention.Need{Topic: "markers", Partition: 3, From: offset, Record: true}
	}
	for _, c := range []struct {
		name            string
		record, marker  int64
		committed, read int64
		want            []retention.Need
	}{
		{"nothing is known", -1, -1, -1, -1, nil},
		{"what is lent", 5, 7, 9, 6, []retention.Need{lent(5), markers(7)}},
		{"what is lent, with nothing committed", 5, 7, -1, -1, []retention.Need{lent(5), markers(7)}},
		{"what waits", -1, -1, 9, 6, []retention.Need{waits(9), markers(6)}},
		{"what waits, before what is lent", 9, 7, 5, 6, []retention.Need{waits(5), markers(7)}},
	} {
		r := reach{partition: 3, record: c.record, marker: c.marker}
		if got := r.needs(cfg, at("queue", c.committed), at("markers", c.read)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
