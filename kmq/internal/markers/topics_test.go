package markers

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
)

func TestTopics(t *testing.T) {
	appended, created, compact := logAppendTime, "CreateTime", "compact"
	for _, c := range []struct {
		name       string
		partitions int32
		configs    map[string]*string
		want       string
	}{
		{"another count of partitions", 3, map[string]*string{timestampType: &appended}, "has 2 partitions and the markers' topic"},
		{"create time", 2, map[string]*string{timestampType: &created}, "set it to LogAppendTime"},
		{"compaction", 2, map[string]*string{timestampType: &appended, cleanupPolicy: &compact}, "set it to delete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 2)
				if _, err := w.adm.CreateTopic(w.ctx, c.partitions, 1, c.configs, w.cfg.MarkersTopic); err != nil {
					t.Fatal(err)
				}
				_, err := New(w.ctx, w.cfg)
				if !errors.Is(err, lease.ErrConfig) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
			})
		})
	}
	t.Run("created", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 2)
			const kept = "123456789"
			w.set(w.cfg.Topic, retention.Time, kept)
			w.open()
			for key, want := range map[string]string{timestampType: logAppendTime, cleanupPolicy: "delete", retention.Time: kept, retention.Bytes: "-1"} {
				v, err := engine.TopicConfig(w.ctx, w.client, w.cfg.MarkersTopic, key)
				if err != nil || v == nil || *v != want {
					t.Errorf("%s: %v, %v; want %s", key, v, err, want)
				}
			}
		})
	})
}

// What was added to the queue's topic while it was closed is added to the markers' when it is
// opened; if that is not permitted, the error says so.
func TestMarkersGrowWithTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t, 3, 2)
		if err := w.open().Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := w.adm.CreatePartitions(w.ctx, 6, w.cfg.Topic); err != nil {
			t.Fatal(err)
		}

		var deny atomic.Bool
		deny.Store(true)
		w.fake.ControlKey(int16(kmsg.CreatePartitions), func(req kmsg.Request) (kmsg.Response, error, bool) {
			w.fake.KeepControl()
			if !deny.Load() {
				return nil, nil, false
			}
			resp := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
			of := kmsg.NewCreatePartitionsResponseTopic()
			of.Topic, of.ErrorCode = w.cfg.MarkersTopic, kerr.TopicAuthorizationFailed.Code
			resp.Topics = append(resp.Topics, of)
			return resp, nil, true
		})
		_, err := New(w.ctx, w.cfg)
		if !errors.Is(err, lease.ErrConfig) || !errors.Is(err, kerr.TopicAuthorizationFailed) || !strings.Contains(err.Error(), "has 8 partitions and the markers' topic") {
			t.Errorf("not permitted: %v", err)
		}

		deny.Store(false)
		w.open()
		all, err := w.adm.ListTopics(w.ctx, w.cfg.Topic, w.cfg.MarkersTopic)
		if err != nil {
			t.Fatal(err)
		}
		if markers := all[w.cfg.MarkersTopic].Partitions; len(markers) != 8 {
			t.Fatalf("%d partitions", len(markers))
		}
	})
}
