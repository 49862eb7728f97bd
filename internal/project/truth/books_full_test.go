//go:build full

package truth

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/latency/latencytest"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestBooksOnKafka(t *testing.T) {
	t.Parallel()
	k, w := clustertest.Shared(t), newWitness()
	cfg := withDriver(config(t, k, smallScenario(t, "books", "load.acks=all", "consume.work=10us")), w.watch(franz.New()))
	cfg.KeepTopics = true
	r := run(t, cfg)
	wantCount(t, "scheduled", r.Run.Load.Scheduled, 1000)
	wantAsLogged(t, k, r, w)
	wantJavaAgrees(t, r)
	removeTopics(t, k, r)
}

func wantAsLogged(t *testing.T, c cluster.Cluster, r *result.Recorded, w *witness) {
	t.Helper()
	wantValid(t, r)
	wantBalance(t, r)
	wantHistograms(t, r)
	wantSeries(t, r)
	l, d := r.Run.Load, r.Run.Delivery
	wantCount(t, "acked", l.Acked, w.with(driver.Acked, true))
	wantCount(t, "failed", l.Failed, w.with(driver.Failed, true))
	wantCount(t, "unknown", l.Unknown, w.with(driver.Unknown, true))
	wantCount(t, "warm-up: acked", r.Run.Warmup.Load.Acked, w.with(driver.Acked, false))
	wantCount(t, "settled twice", int64(w.twice), 0)
	if !r.Run.Lag.Drained {
		t.Fatalf("the run was not drained: the log cannot be compared with what was delivered (%d pending)", d.Pending)
	}
	found := w.compare(readLog(t, c, r.Run.Run.Topic))
	t.Logf("acked %d, failed %d, unknown %d; found %+v; delivered twice %d; errors %v",
		l.Acked, l.Failed, l.Unknown, found, d.Duplicates, l.Errors)
	wantCount(t, "unique", d.Unique, found.inLog)
	wantCount(t, "lost", d.Lost, found.lost)
	wantCount(t, "delivered without an ack", d.UnackedDelivered, found.unacked)
	wantCount(t, "failed, and in the log all the same", found.risen, 0)
	wantCount(t, "acked at an offset where the log has another", found.misplaced, 0)
	wantCount(t, "foreign or corrupt", d.Foreign+d.Corrupt, 0)
}

type survey struct {
	inLog     int64
	lost      int64 // acked, and not in the log
	unacked   int64 // in the log, and not acked
	risen     int64 // those of unacked that the client reported as failed
	misplaced int64 // acked at an offset where the log has another record
}

func (w *witness) compare(log map[identity][]int64) (found survey) {
	for id, s := range w.settled {
		at, acked := log[id], s.outcome == driver.Acked
		switch {
		case !s.measured:
		case len(at) == 0 && acked:
			found.lost++
		case len(at) > 0 && acked:
			found.inLog++
			if !slices.Contains(at, s.offset) {
				found.misplaced++
			}
		case len(at) > 0:
			found.inLog++
			found.unacked++
			if s.outcome == driver.Failed {
				found.risen++
			}
		}
	}
	return found
}

func readLog(t *testing.T, c cluster.Cluster, topic string) map[identity][]int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reader := client(t, c, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	ends, err := kadm.NewClient(reader).ListEndOffsets(ctx, topic)
	if err != nil || ends.Error() != nil {
		t.Fatal(err, ends.Error())
	}
	left := make(map[int32]int64)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	log := make(map[identity][]int64)
	for len(left) > 0 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			_, id, ok := stampOf(headerOf(r), r.Value)
			if !ok {
				t.Errorf("the log has a record that nobody sent: %q", r.Value)
			}
			log[id] = append(log[id], r.Offset)
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return log
}

func headerOf(r *kgo.Record) *payload.Header {
	if len(r.Headers) == 0 {
		return nil
	}
	return payload.HeaderOf(r.Headers[0].Key, r.Headers[0].Value)
}

func removeTopics(t *testing.T, c cluster.Cluster, runs ...*result.Recorded) {
	t.Helper()
	admin := kadm.NewClient(client(t, c))
	for _, r := range runs {
		if _, err := admin.DeleteTopic(context.Background(), r.Run.Run.Topic); err != nil {
			t.Error(err)
		}
	}
}

// Java's HistogramLogProcessor must agree with our reader on every tag, and with run.json on count,
// median, 90th and 99th percentile and maximum of every metric.
func wantJavaAgrees(t *testing.T, r *result.Recorded) {
	t.Helper()
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	dist, err := home.KafkaDist(t.Context(), "", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	jars, err := filepath.Glob(filepath.Join(dist.Lib(), "HdrHistogram-*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("the jars are %v, %v", jars, err)
	}
	summaries := latencytest.CheckJava(t, jars[0], filepath.Join(r.Dir, result.HistogramsFile))
	if len(r.Run.Time) < 7 {
		t.Errorf("run.json has %d metrics", len(r.Run.Time))
	}
	for metric, told := range r.Run.Time {
		want := latency.Summary{Count: told.Count, P50Ns: told.P50Ns, P90Ns: told.P90Ns, P99Ns: told.P99Ns, MaxNs: told.MaxNs}
		if got := summaries[metric]; got != want {
			t.Errorf("%s: HistogramLogProcessor reads %+v, run.json has %+v", metric, got, want)
		}
	}
}
