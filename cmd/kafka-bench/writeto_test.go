package main

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestWriteTo: a run writes to an existing topic only if the command line names it, and says which groups read it.
func TestWriteTo(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		at := l.start(t).Bootstrap()[0]
		orders(t, l.client([]string{at})...)
		client, err := kgo.NewClient(l.client([]string{at})...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		admin := kadm.NewClient(client)
		var offsets kadm.Offsets
		offsets.AddOffset("orders", 0, 3, -1)
		for _, group := range []string{"billing", "audit"} {
			if err := admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
				t.Fatal(err)
			}
		}
		ends := func() (sum int64) {
			listed, err := admin.ListEndOffsets(t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			listed.Each(func(o kadm.ListedOffset) { sum += o.Offset })
			return sum
		}
		args := []string{write(t, tiny), "--brokers", at, "--out", t.TempDir(), "--set", "topic=null", "--set", "topic.existing=orders"}
		const refused = "scenario s: topic.existing: the run writes to the topic orders, which is not its own, and its records stay there; " +
			"add --write-to orders, or load.producers: 0 to only read it"
		for _, more := range [][]string{nil, {"--dry-run"}, {"--write-to", "order"}} {
			wantBad(t, l.invoke(t, append(append([]string{"run"}, args...), more...)...), refused)
		}
		wantBad(t, l.invoke(t, append([]string{"search"}, args...)...), refused)
		if n := ends(); n != 8 {
			t.Errorf("the topic has %d records, want 8", n)
		}
		wantSaid(t, l.invoke(t, append([]string{"run", "--dry-run", "--write-to", "orders"}, args...)...).stdout,
			"existing  writing to its topic orders\n")

		got := l.invoke(t, append([]string{"run", "--write-to", "orders"}, args...)...)
		if got.code > exitInvalid || ends() != 8+80 {
			t.Errorf("exit code %d, and the topic has %d records: %s", got.code, ends(), got.stderr)
		}
		wantSaid(t, got.stderr, ", writing to its topic orders, up to ",
			"warning: the records of this run are also for the groups with offsets of the topic orders (audit, billing)")
		wantBad(t, l.invoke(t, "run", args[0], "--brokers", at, "--set", "topic=null", "--set", "topic.existing=_schemas", "--write-to", "_schemas"),
			`--set topic.existing=_schemas: "_schemas" begins with _, as topics do in which Kafka and its tools keep their own data; `+
				"name a topic of records, or leave topic.existing out to create a topic")
	})
}
