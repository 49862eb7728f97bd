package promkmq

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kafkabench.example/kafka-bench/kmq"
)

type counters kmq.Stats

func (c counters) Stats() kmq.Stats { return kmq.Stats(c) }

func TestEveryNumberIsTold(t *testing.T) {
	stats := kmq.Stats{
		Delivered: 101, Acked: 102, Nacked: 103, Rejected: 104, Expired: 105, Lost: 106, Redelivered: 107, Moved: 108,
		DeadLettered: 109, Missing: 110, Retried: 113, Unreadable: 114, InFlight: 111, Waiting: 115, Blocked: []string{"too many"}, OldestUnacked: time.Unix(1000, 0), Paused: []int32{3, 5},
		CommitBehind: 112, RetentionAlarm: "partition 3",
	}
	stats.Lateness.Counts[1], stats.Lateness.Counts[14], stats.Lateness.Sum = 1, 1, time.Minute+1500*time.Microsecond
	stats.Handlers.Counts[13], stats.Handlers.Sum = 7, 3*time.Minute
	stats.Failures = kmq.Failures{Errors: 1, Panics: 2, Timeouts: 3, Rejections: 4}
	c := New(counters(stats), prometheus.Labels{"group": "billing"})
	c.(*collector).now = func() time.Time { return time.Unix(1090, 0) }

	const want = `
# HELP kafka_kmq_acked_records_total Records that were acknowledged.
# TYPE kafka_kmq_acked_records_total counter
kafka_kmq_acked_records_total{group="billing"} 102
# HELP kafka_kmq_blocked Reasons why records are not fetched although they are there.
# TYPE kafka_kmq_blocked gauge
kafka_kmq_blocked{group="billing"} 1
# HELP kafka_kmq_commit_behind_records Records beyond the committed offsets of this member's partitions, as far as it has read.
# TYPE kafka_kmq_commit_behind_records gauge
kafka_kmq_commit_behind_records{group="billing"} 112
# HELP kafka_kmq_dead_lettered_records_total Records that this process copied to the dead-letter topic.
# TYPE kafka_kmq_dead_lettered_records_total counter
kafka_kmq_dead_lettered_records_total{group="billing"} 109
# HELP kafka_kmq_delivered_records_total Records handed out, every attempt.
# TYPE kafka_kmq_delivered_records_total counter
kafka_kmq_delivered_records_total{group="billing"} 101
# HELP kafka_kmq_expired_records_total Records whose lock ran out in this process.
# TYPE kafka_kmq_expired_records_total counter
kafka_kmq_expired_records_total{group="billing"} 105
# HELP kafka_kmq_handler_failures_total Failed attempts of the handlers of Run: error, panic, timeout or rejection.
# TYPE kafka_kmq_handler_failures_total counter
kafka_kmq_handler_failures_total{group="billing",kind="error"} 1
kafka_kmq_handler_failures_total{group="billing",kind="panic"} 2
kafka_kmq_handler_failures_total{group="billing",kind="rejection"} 4
kafka_kmq_handler_failures_total{group="billing",kind="timeout"} 3
# HELP kafka_kmq_handler_seconds Time of each call of the handlers of Run.
# TYPE kafka_kmq_handler_seconds histogram
kafka_kmq_handler_seconds_bucket{group="billing",le="0.001"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.002"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.005"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.01"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.02"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.05"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.1"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.2"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="0.5"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="1"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="2"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="5"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="10"} 0
kafka_kmq_handler_seconds_bucket{group="billing",le="30"} 7
kafka_kmq_handler_seconds_bucket{group="billing",le="+Inf"} 7
kafka_kmq_handler_seconds_sum{group="billing"} 180
kafka_kmq_handler_seconds_count{group="billing"} 7
# HELP kafka_kmq_in_flight_records Records that were handed out, or are ready to be, and are not settled.
# TYPE kafka_kmq_in_flight_records gauge
kafka_kmq_in_flight_records{group="billing"} 111
# HELP kafka_kmq_lost_records_total Records in flight whose partition, or whose lock, went to another member, which delivers them.
# TYPE kafka_kmq_lost_records_total counter
kafka_kmq_lost_records_total{group="billing"} 106
# HELP kafka_kmq_missing_records_total Records that were to be delivered again and were not in the log any more.
# TYPE kafka_kmq_missing_records_total counter
kafka_kmq_missing_records_total{group="billing"} 110
# HELP kafka_kmq_moved_records_total Records that this process moved to the retry topic.
# TYPE kafka_kmq_moved_records_total counter
kafka_kmq_moved_records_total{group="billing"} 108
# HELP kafka_kmq_nacked_records_total Records that were released for another attempt.
# TYPE kafka_kmq_nacked_records_total counter
kafka_kmq_nacked_records_total{group="billing"} 103
# HELP kafka_kmq_oldest_unacked_seconds Age of the oldest record in flight, by its timestamp; 0 if there is none.
# TYPE kafka_kmq_oldest_unacked_seconds gauge
kafka_kmq_oldest_unacked_seconds{group="billing"} 90
# HELP kafka_kmq_paused_partitions Partitions that are not fetched because a limit is reached.
# TYPE kafka_kmq_paused_partitions gauge
kafka_kmq_paused_partitions{group="billing"} 2
# HELP kafka_kmq_redelivered_records_total Records handed out with an attempt above 1.
# TYPE kafka_kmq_redelivered_records_total counter
kafka_kmq_redelivered_records_total{group="billing"} 107
# HELP kafka_kmq_redelivery_lateness_seconds Time from the end of a record's lock until this process had it delivered again.
# TYPE kafka_kmq_redelivery_lateness_seconds histogram
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.001"} 0
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.002"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.005"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.01"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.02"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.05"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.1"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.2"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="0.5"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="1"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="2"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="5"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="10"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="30"} 1
kafka_kmq_redelivery_lateness_seconds_bucket{group="billing",le="+Inf"} 2
kafka_kmq_redelivery_lateness_seconds_sum{group="billing"} 60.0015
kafka_kmq_redelivery_lateness_seconds_count{group="billing"} 2
# HELP kafka_kmq_rejected_records_total Records that were given up by the application.
# TYPE kafka_kmq_rejected_records_total counter
kafka_kmq_rejected_records_total{group="billing"} 104
# HELP kafka_kmq_retention_alarm 1 while retention does not cover the oldest record that is not settled.
# TYPE kafka_kmq_retention_alarm gauge
kafka_kmq_retention_alarm{group="billing"} 1
# HELP kafka_kmq_retried_total Failed attempts of the tracker in this process, and refused copies, which it repeats.
# TYPE kafka_kmq_retried_total counter
kafka_kmq_retried_total{group="billing"} 113
# HELP kafka_kmq_unreadable_markers_total Markers that the tracker in this process could not read.
# TYPE kafka_kmq_unreadable_markers_total counter
kafka_kmq_unreadable_markers_total{group="billing"} 114
# HELP kafka_kmq_waiting_records Records that wait for another attempt, or behind such a record.
# TYPE kafka_kmq_waiting_records gauge
kafka_kmq_waiting_records{group="billing"} 115
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// Every integer counter of Stats has a metric.
func TestStatsHaveNoOthers(t *testing.T) {
	for field := range reflect.TypeFor[kmq.Stats]().Fields() {
		if field.Type.Kind() != reflect.Int64 {
			continue
		}
		var s kmq.Stats
		reflect.ValueOf(&s).Elem().FieldByIndex(field.Index).SetInt(7)
		if !slices.ContainsFunc(table(), func(r row) bool { return r.value(s, time.Now()) == 7 }) {
			t.Errorf("no metric tells Stats.%s", field.Name)
		}
	}
}

func TestTheNamesAreAsPrometheusWantsThem(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(New(counters{}, prometheus.Labels{"topic": "a"}))
	registry.MustRegister(New(counters{}, prometheus.Labels{"topic": "b"}))
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestWhatThereIsNoneOfIsZero(t *testing.T) {
	const want = `
# HELP kafka_kmq_oldest_unacked_seconds Age of the oldest record in flight, by its timestamp; 0 if there is none.
# TYPE kafka_kmq_oldest_unacked_seconds gauge
kafka_kmq_oldest_unacked_seconds 0
# HELP kafka_kmq_retention_alarm 1 while retention does not cover the oldest record that is not settled.
# TYPE kafka_kmq_retention_alarm gauge
kafka_kmq_retention_alarm 0
`
	err := testutil.CollectAndCompare(New(counters{}, nil), strings.NewReader(want),
		"kafka_kmq_oldest_unacked_seconds", "kafka_kmq_retention_alarm")
	if err != nil {
		t.Error(err)
	}
}

func TestANilQueueIsRefused(t *testing.T) {
	for _, c := range []prometheus.Collector{New(nil, nil), New((*kmq.Queue)(nil), nil), New((*kmq.Tracker)(nil), nil)} {
		if err := prometheus.NewRegistry().Register(c); err == nil || !strings.Contains(err.Error(), "the queue is nil") {
			t.Errorf("registered: %v", err)
		}
	}
}

func TestTheDocumentHasEveryMetric(t *testing.T) {
	text, err := os.ReadFile("../../docs/queue.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"handler_failures_total"}
	for _, r := range table() {
		names = append(names, r.name)
	}
	for _, h := range histograms() {
		names = append(names, h.name)
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/queue.md does not have %s", name)
		}
	}
}
