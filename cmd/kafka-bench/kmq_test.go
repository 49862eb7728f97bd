package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
)

func orders(t *testing.T, opts ...kgo.Opt) {
	t.Helper()
	client, err := kgo.NewClient(append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 2, 1, nil, "orders"); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		r := &kgo.Record{Topic: "orders", Partition: int32(i % 2), Value: []byte{byte(i)}, Timestamp: time.Now().Add(-time.Hour)}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func queueOf(t *testing.T, cfg kmq.Config) *kmq.Queue {
	t.Helper()
	cfg.Topic, cfg.Group, cfg.CommitEvery = "orders", "billing", 20*time.Millisecond
	q, err := kmq.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = q.Close(ctx)
	})
	return q
}

func receive(t *testing.T, q *kmq.Queue, n int) (all []kmq.Delivery) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for len(all) < n {
		ds, err := q.Receive(ctx, n-len(all))
		if err != nil {
			t.Fatalf("after %d of %d records: %v", len(all), n, err)
		}
		all = append(all, ds...)
	}
	return all
}

// settleMost leaves offset 1 of partition 0 open, rejects offset 3 and acknowledges the rest.
func settleMost(t *testing.T, q *kmq.Queue) {
	t.Helper()
	for _, d := range receive(t, q, 8) {
		var err error
		switch d.ID() {
		case kmq.ID{Partition: 0, Offset: 1}:
		case kmq.ID{Partition: 0, Offset: 3}:
			err = d.Reject(t.Context(), "no such order")
		default:
			err = d.Ack(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestInspectQueue(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		brokers := l.start(t).Bootstrap()
		orders(t, l.client(brokers)...)
		settleMost(t, queueOf(t, kmq.Config{Client: l.client(brokers), Brokers: brokers, Engine: kmq.OffsetMap{}, DeadLetterTopic: "orders-dead"}))
		args := []string{"kmq", "inspect", "billing", "--brokers", strings.Join(brokers, ","), "--dead-letter", "orders-dead"}
		const want = `group billing on topic orders, engine offsetmap

partition committed end in flight waiting redeliveries oldest unacked
0 1 4 1 0 0 1 h
1 4 4 0 0 0 –
all 1 0 0 1 h

dead letters in orders-dead: 1
`
		time.Sleep(time.Second) // commits come every 20 ms
		got := l.invoke(t, args...)
		if got.code != exitValid || withoutSeconds(got.stdout) != want {
			t.Errorf("exit code %d: %s\n%s\nwant:\n%s", got.code, got.stderr, withoutSeconds(got.stdout), want)
		}

		var said anInspection
		if err := json.Unmarshal([]byte(l.invoke(t, append(args, "--json")...).stdout), &said); err != nil {
			t.Fatal(err)
		}
		if said.Group != "billing" || said.Engine == nil || *said.Engine != "offsetmap" || *said.InFlight != 1 || *said.DeadLetters != 1 || len(said.Partitions) != 2 ||
			*said.Partitions[0].Committed != 1 || said.Partitions[1].OldestAt != nil || *said.OldestAge < 3600 {
			t.Errorf("%+v", said)
		}
	})
}

func withoutSeconds(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if at := strings.Index(line, " 1 h "); at >= 0 {
			line = line[:at] + " 1 h"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestInspectWhatNobodyKnows(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		brokers := l.start(t).Bootstrap()
		orders(t, l.client(brokers)...)
		got := l.invoke(t, "kmq", "inspect", "billing", "--topic", "orders", "--engine", "plain", "--json", "--brokers", strings.Join(brokers, ","))
		var said anInspection
		if err := json.Unmarshal([]byte(got.stdout), &said); err != nil {
			t.Fatalf("%v: %s", err, got.stderr)
		}
		if said.InFlight != nil || said.DeadLetters != nil || *said.Waiting != 8 || said.Partitions[0].Committed != nil {
			t.Errorf("%s", got.stdout)
		}
		wantSaid(t, l.invoke(t, "kmq", "inspect", "billing", "--topic", "orders", "--engine", "plain", "--brokers", strings.Join(brokers, ",")).stdout,
			"          0          –    4          –        4             0  ")
	})
}

// Without --engine the engine of plain and its in-flight records are unknown.
func TestInspectADrainedQueue(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		brokers := l.start(t).Bootstrap()
		orders(t, l.client(brokers)...)
		q := queueOf(t, kmq.Config{Client: l.client(brokers), Brokers: brokers, Engine: kmq.Plain{}})
		for _, d := range receive(t, q, 8) {
			if err := d.Ack(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		args := []string{"kmq", "inspect", "billing", "--brokers", strings.Join(brokers, ",")}
		const want = `group billing on topic orders, engine unknown (an ordinary group has none; name a queue's with --engine)

partition committed end in flight waiting redeliveries oldest unacked
0 4 4 – 0 0 –
1 4 4 – 0 0 –
all – 0 0 –

dead letters in orders.billing.dead: 0
`
		if got := l.invoke(t, args...); got.code != exitValid || withoutSeconds(got.stdout) != want {
			t.Errorf("exit code %d: %s\n%s\nwant:\n%s", got.code, got.stderr, withoutSeconds(got.stdout), want)
		}
		var said anInspection
		if err := json.Unmarshal([]byte(l.invoke(t, append(args, "--json")...).stdout), &said); err != nil {
			t.Fatal(err)
		}
		if said.Engine != nil || said.InFlight != nil || *said.Waiting != 0 || said.OldestAt != nil {
			t.Errorf("%+v", said)
		}
		wantSaid(t, withoutSeconds(l.invoke(t, append(args, "--engine", "plain")...).stdout), "all 0 0 0 –")
	})
}

func TestRedriveFromTheCommandLine(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		brokers := l.start(t).Bootstrap()
		orders(t, l.client(brokers)...)
		q := queueOf(t, kmq.Config{Client: l.client(brokers), Brokers: brokers, DeadLetterTopic: "orders-dead"})
		for i, d := range receive(t, q, 8) {
			settle := d.Ack
			if i > 5 {
				settle = func(ctx context.Context) error { return d.Reject(ctx, "no such order") }
			}
			if err := settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"kmq", "redrive", "billing", "--dead-letter", "orders-dead", "--brokers", strings.Join(brokers, ",")}
		for _, want := range []string{"dead letters to be delivered again: 2\n", "dead letters to be delivered again: 0\n"} {
			if got := l.invoke(t, args...); got.code != exitValid || got.stdout != want {
				t.Errorf("exit code %d: %s\n%s\nwant %s", got.code, got.stderr, got.stdout, want)
			}
		}
		for _, d := range receive(t, q, 2) {
			if d.Attempt() != 1 {
				t.Errorf("%v is attempt %d", d.ID(), d.Attempt())
			}
		}
	})
}

func TestKmqRefused(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		brokers := l.start(t).Bootstrap()
		orders(t, l.client(brokers)...)
		commitOne(t, "packing", l.client(brokers)...)
		there := strings.Join(brokers, ",")
		for _, c := range []struct {
			args string
			code int
			want string
		}{
			{"inspect", exitBadInput, "inspect needs the name of one group"},
			{"inspect billing", exitUnreachable, `the cluster "default" is not up; start it with: kafka-bench cluster up`},
			{"inspect billing --brokers localhost:1", exitUnreachable, "no broker can be reached"},
			{"inspect billing --brokers " + there, exitBadInput, "kmq: configuration: group billing has committed nothing and has no members: check its name, or name its topic"},
			{"inspect billing --topic orders --brokers " + there, exitBadInput, "kmq: configuration: group billing has committed nothing and has no members: check its name, or name its engine"},
			{"inspect billing --topic order --engine plain --brokers " + there, exitBadInput, "kmq: configuration: topic order does not exist"},
			{"inspect billing --topic orders --engine plain --dead-letter nope --brokers " + there, exitBadInput, "kmq: configuration: topic nope does not exist"},
			{"inspect billing --engine queue --brokers " + there, exitBadInput, `kmq: configuration: there is no engine "queue": choose one of offsetmap, markers, plain, share`},
			{"inspect billing --command-config client.properties", exitBadInput, "--command-config is for an existing cluster; name its addresses with --brokers, or leave it out"},
			{"inspect billing --cluster mine --brokers " + there, exitBadInput, "--cluster and --brokers name two clusters; leave one of them out"},
			{"tracker --topic orders", exitBadInput, "a tracker needs the --group and the --topic of its queues"},
			{"tracker --group billing", exitBadInput, "a tracker needs the --group and the --topic of its queues"},
			{"tracker --group biling --topic orders --brokers " + there, exitBadInput, "the group biling has committed nothing and has no members: check its name, or open its queues first"},
			{"redrive", exitBadInput, "redrive needs the name of one group"},
			{"redrive billing --topic orders --brokers " + there, exitBadInput, "kmq: configuration: group billing has committed nothing and has no members"},
			{"tracker --group billing --topic orders --metrics 0.0.0.0:0", exitBadInput, "--metrics 0.0.0.0:0: choose a loopback address, as 127.0.0.1:9400; the page has no authentication"},
			{"tracker --group billing --topic orders --metrics 9400", exitBadInput, "--metrics 9400: address 9400: missing port in address; write it as 127.0.0.1:9400"},
			{"tracker --group billing --topic orders --visibility 1 --brokers " + there, exitBadInput, `--visibility: duration "1": it has no unit; write 1s or 1ms`},
			{"tracker --group packing --topic order --brokers " + there, exitBadInput, "kmq: configuration: topic order does not exist"},
			{"tracker --group billing --topic orders --max-deliveries -3 --brokers " + there, exitBadInput, "--max-deliveries is -3: give 0, which is never, or more"},
			{"tracker --group packing --topic orders --visibility 1ms --markers-topic orders --brokers " + there, exitBadInput, "kmq: configuration: --visibility is 1ms: it must be from 100ms to 1h0m0s (0 is the default, 30s); --markers-topic is orders, which is the queue's own topic or its dead-letter topic: name another"},
			{"inspect billing --engine plain --markers-topic loans --brokers " + there, exitBadInput, "--markers-topic is only for the engine markers, and --engine is plain; leave one of them out"},
			{"tracker --group packing --topic orders --session-timeout 1s --brokers " + there, exitBadInput, "kmq: configuration: the brokers refuse --session-timeout: choose one from their group.min.session.timeout.ms"},
			{"tracker --group packing --topic orders --session-timeout 1s --metrics 127.0.0.1:0 --brokers " + there, exitBadInput, "kmq: configuration: the brokers refuse --session-timeout: choose one from their group.min.session.timeout.ms"},
		} {
			got := l.invoke(t, append([]string{"kmq"}, strings.Fields(c.args)...)...)
			if got.code != c.code || !strings.HasPrefix(got.message(), c.want) {
				t.Errorf("kmq %s: exit code %d and %q, want %d and %q", c.args, got.code, got.message(), c.code, c.want)
			}
		}
		if left := topics(t, l.client(brokers)...); strings.Contains(strings.Join(left, " "), "biling") {
			t.Errorf("the topics %v were made", left)
		}
	})
}

func commitOne(t *testing.T, group string, client ...kgo.Opt) {
	t.Helper()
	c, err := kgo.NewClient(client...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var offsets kadm.Offsets
	offsets.AddOffset("orders", 0, 1, -1)
	if err := kadm.NewClient(c).CommitAllOffsets(t.Context(), group, offsets); err != nil {
		t.Fatal(err)
	}
}
