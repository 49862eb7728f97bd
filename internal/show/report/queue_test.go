package report_test

import (
	"bytes"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func queueOf(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.Baseline())
	r.Run.Run.Name = "queue"
	q := showtest.TakesFrom(r, "markers", 10_000, nil)
	showtest.Drops(r, q, 0.5, 4, 31)
	q.Expired, q.Tailed = 0, q.Redelivered
	return r
}

func TestQueue(t *testing.T) {
	broken := queueOf(t)
	broken.Run.Run.Name = "queue-broken"
	q := broken.Run.Queue
	q.Lost, q.AckedAgain, q.Missing, q.AttemptsDiffer, q.Unsettled = 3, 41, 2, 7, 12
	q.GivenUp = result.Counts{"expired": 5, "lost": 6, "error": 1}
	q.Lateness.Negative, q.Lateness.MinNs = 2, -4_000_000
	q.RetentionAlarm = "partition 3: the oldest unacknowledged record is within 10 min of the retention of the topic"
	plainRun := showtest.Simulate(t, resulttest.Baseline())
	showtest.TakesFrom(plainRun, "plain", 9_990, nil)
	plainRun.Run.Queue.Cost.BrokerRequestsPerRecord = nil
	plainRun.Run.Queue.Pending = 17
	for name, r := range map[string]*result.Recorded{"queue": queueOf(t), "queue-broken": broken, "queue-plain": plainRun} {
		got := text(t, r, report.Options{})
		showtest.Screens(t, got, layout.Width, 105)
		showtest.Golden(t, name, got)
		showtest.Screens(t, text(t, r, report.Options{Width: 80}), 80, 121)
		runs := func(b *bytes.Buffer, o report.Options) error { return report.Runs(b, []*result.Recorded{r}, o) }
		showtest.Golden(t, name+".md", showtest.Written(t, runs, report.Options{Format: report.AsMarkdown}))
	}
	runs := func(b *bytes.Buffer, o report.Options) error {
		return report.Runs(b, []*result.Recorded{queueOf(t)}, o)
	}
	showtest.Golden(t, "queue.csv", showtest.Written(t, runs, report.Options{Format: report.AsCSV, Table: "queue"}))
}

func TestQueueSaysWhatIsWrong(t *testing.T) {
	whole := string(text(t, queueOf(t), report.Options{}))
	for _, c := range []struct {
		change func(*result.Queue)
		says   string
	}{
		{func(q *result.Queue) { q.Lost = 3 }, "3 records LOST: the queue has nothing any more"},
		{func(q *result.Queue) { q.Pending = 5 }, "5 records are pending"},
		{func(q *result.Queue) { q.Lateness.Negative, q.Lateness.MinNs = 2, -4e6 }, "2 redeliveries came before they were due, by up to 4.00 ms"},
		{func(q *result.Queue) { q.Missing = 2 }, "2 were to be delivered again and were not in the log any more"},
		{func(q *result.Queue) { q.AckedAgain = 41 }, "41 acknowledged again"},
	} {
		r := queueOf(t)
		c.change(r.Run.Queue)
		if got := string(text(t, r, report.Options{Width: 120})); !strings.Contains(got, c.says) || strings.Contains(whole, c.says) {
			t.Errorf("it does not say %q of a run of which it is true alone:\n%s", c.says, got)
		}
	}
	if says := "Every record was acknowledged by the application, or is a dead letter."; !strings.Contains(whole, says) {
		t.Errorf("it does not say %q:\n%s", says, whole)
	}
}
