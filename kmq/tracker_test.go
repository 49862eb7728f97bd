package kmq_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq"
)

func TestTrackerOfAnUnknownGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		for _, known := range []bool{false, true} {
			cfg := i.config(kmq.Markers{ExternalTracker: true})
			cfg.MaxDeliveries = 7
			if known {
				q := i.open(cfg)
				i.do(i.receive(q, 1)[0].Ack(t.Context()))
				i.do(q.Close(t.Context()))
			}
			var log bytes.Buffer
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			tracker, err := kmq.OpenTracker(t.Context(), cfg)
			i.do(err)
			i.do(tracker.Close(t.Context()))
			if first, _, _ := strings.Cut(log.String(), "\n"); !strings.Contains(first, "max_deliveries=7 dead_letter_topic=orders-dead") {
				t.Errorf("its first word: %s", first)
			}
			if warned := strings.Contains(log.String(), "has committed nothing and has no members"); warned == known {
				t.Errorf("of a group that is known (%t): %s", known, &log)
			}
		}
	})
}

func TestClosedWithoutAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		cfg := i.config(kmq.Plain{})
		var log bytes.Buffer
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		i.do(i.open(cfg).Close(t.Context()))
		if said := log.String(); !strings.Contains(said, `msg="kmq: queue closed"`) || strings.Contains(said, "error=<nil>") {
			t.Error(said)
		}
	})
}

func TestTrackerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		cfg := i.config(kmq.Markers{ExternalTracker: true})
		good, err := kmq.OpenTracker(t.Context(), cfg)
		i.do(err)
		var told bytes.Buffer
		cfg.Logger = slog.New(slog.NewTextHandler(&told, nil))
		cfg.SessionTimeout = time.Second // the brokers require 6 s
		refused, err := kmq.OpenTracker(t.Context(), cfg)
		i.do(err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := refused.Wait(ctx); !errors.Is(err, kmq.ErrConfig) || !strings.Contains(err.Error(), "SessionTimeout") || !strings.Contains(err.Error(), "group.min.session.timeout.ms") {
			t.Errorf("the one that is refused: %v", err)
		}
		i.do(refused.Close(t.Context()))
		if log := told.String(); !strings.Contains(log, "the member of the group has ended") || strings.Contains(log, "trying again") {
			t.Errorf("the one that is refused tells: %s", log)
		}
		cancel()
		if err := good.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the one that is not: %v", err)
		}
		i.do(good.Close(t.Context()))
		if err := good.Wait(t.Context()); !errors.Is(err, kmq.ErrClosed) {
			t.Errorf("the one that is closed: %v", err)
		}
	})
}
