package truth

import (
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// With consumers in three processes, times come from one clock.
func TestConsumersApart(t *testing.T) {
	t.Parallel()
	const delay, lingers, work = 50 * time.Millisecond, time.Millisecond, 100 * time.Microsecond
	virtual.Test(t, virtual.Options{ProduceDelay: delay}, func(t *testing.T, c *virtual.Cluster) {
		here, apart := sameApart(t, c, "consume.processes=3", "load.rate=500/s", "load.in_flight=1000",
			"topic.partitions=5", "consume.consumers=3", "consume.work=100us")
		for _, r := range []*result.Recorded{here, apart} {
			wantTimes(t, r, "e2e_service_time", delay+lingers, delay+lingers+work)
			wantTimes(t, r, "e2e_response_time", delay+lingers, delay+lingers+work)
			wantTimes(t, r, "processed_response_time", delay+lingers+work, delay+lingers+2*work)
		}
		wantSameSettings(t, here, apart)
		a, b := here.Run.Consumer, apart.Run.Consumer
		if b.Processes != 3 || a.Processes != 0 || b.Workers != a.Workers || b.Members != a.Members || b.Polls == 0 || b.Commits == 0 {
			t.Errorf("the consumers apart are %+v, here %+v", b, a)
		}
		if a.Utilisation == nil || b.Utilisation == nil || !agree(*a.Utilisation, 500*work.Seconds()/3, 0.02) || !agree(*b.Utilisation, *a.Utilisation, 0.02) {
			t.Errorf("utilisation %s apart, %s here", ratio(b.Utilisation), ratio(a.Utilisation))
		}
	})
}

func wantSameSettings(t *testing.T, here, apart *result.Recorded) {
	t.Helper()
	names := []string{"ClientID", "ConsumerGroup"} // different in each run
	a, b := here.Run.Run.Driver.Consumer, apart.Run.Run.Driver.Consumer
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d settings here, %d apart", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] && !slices.Contains(names, a[i].Name) {
			t.Errorf("apart, %s is %s; here %s is %s", b[i].Name, b[i].Value, a[i].Name, a[i].Value)
		}
	}
}

func TestGroupsApart(t *testing.T) {
	t.Parallel()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		r := runApart(t, c, smallScenario(t, "groups", "topic.partitions=4", "consume.groups=2",
			"consume.consumers=4", "consume.processes=2", "consume.parallel=partition", "consume.work=1ms"), 4)
		wantValid(t, r)
		wantBalance(t, r)
		if len(r.Run.Groups) != 2 {
			t.Fatalf("the groups are %+v", r.Run.Groups)
		}
		for _, g := range r.Run.Groups {
			wantCount(t, g.Name+" unique", g.Delivery.Unique, r.Run.Load.Acked)
			if g.Consumer.Workers != 4 || g.Delivery.Duplicates != 0 || !g.Lag.Drained {
				t.Errorf("%+v", g)
			}
		}
		wantNoTopics(t, c)
	})
}

func ratio(r *float64) string { return orUnknown(r, "%.3f") }
