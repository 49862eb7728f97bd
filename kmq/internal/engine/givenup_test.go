package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := NewGivenUp(slog.New(slog.NewTextHandler(&log, nil)))
		for i := range int64(100) {
			g.Record(lease.ID{Partition: 3, Offset: i}, "delivered 5 times")
		}
		time.Sleep(complainEvery)
		g.Record(lease.ID{Partition: 4, Offset: 7}, "not for us")
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], `partition=3 offset=0 reason="delivered 5 times" given_up=1`) ||
			!strings.Contains(lines[1], `partition=4 offset=7 reason="not for us" given_up=100`) {
			t.Errorf("it says\n%s", log.String())
		}
	})
}
