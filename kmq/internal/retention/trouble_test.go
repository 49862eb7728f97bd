package retention

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// A single failed check is logged only if a retry cannot help; the second always is.
func TestTroubleFromTheSecondLookOn(t *testing.T) {
	passing, fatal := error(kerr.CoordinatorNotAvailable), error(kerr.GroupAuthorizationFailed)
	for _, test := range []struct {
		looks []error
		warns int
	}{
		{[]error{passing}, 0},
		{[]error{passing, nil, passing}, 0},
		{[]error{passing, passing}, 1},
		{[]error{passing, passing, passing}, 1},
		{[]error{fatal}, 1},
	} {
		var log bytes.Buffer
		tr := trouble{complaint: engine.NewComplaint(slog.New(slog.NewTextHandler(&log, nil)))}
		for _, err := range test.looks {
			tr.looked(err)
		}
		if got := strings.Count(log.String(), "kmq: trying again"); got != test.warns {
			t.Errorf("after %v: %d warnings, want %d", test.looks, got, test.warns)
		}
	}
}
