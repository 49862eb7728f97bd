package campaigns_test

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/show/campaigns"
)

func TestUnsettledNote(t *testing.T) {
	for _, test := range []struct {
		name            string
		other           string
		failed, unknown int64
		want            bool
	}{
		{"one client", "franz", 3, 4, false},
		{"two, failed", "librdkafka", 3, 0, true},
		{"two, unknown", "librdkafka", 0, 4, true},
		{"two, and nothing lost", "librdkafka", 0, 0, false},
	} {
		c := sweep(t, 1, codecs[:2], []float64{1, 1})
		c.Runs[0].Run.Run.Driver.Name, c.Runs[1].Run.Run.Driver.Name = "franz", test.other
		c.Runs[1].Run.Load.Failed, c.Runs[1].Run.Load.Unknown = test.failed, test.unknown
		d, err := campaigns.Analyse(c, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(d.Notes, "\n"), "by the sum of failed and unknown records"); got != test.want {
			t.Errorf("%s: noted %t, want %t", test.name, got, test.want)
		}
	}
}
