package markers

import (
	"errors"
	"strings"
	"testing"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
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
			w := newWorld(t, 2)
			if _, err := w.adm.CreateTopic(w.ctx, c.partitions, 1, c.configs, w.cfg.MarkersTopic); err != nil {
				t.Fatal(err)
			}
			_, err := New(w.ctx, w.cfg)
			if !errors.Is(err, lease.ErrConfig) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("created", func(t *testing.T) {
		w := newWorld(t, 2)
		const kept = "123456789"
		w.set(w.cfg.Topic, retentionTime, kept)
		w.open()
		for key, want := range map[string]string{timestampType: logAppendTime, cleanupPolicy: "delete", retentionTime: kept} {
			v, err := engine.TopicConfig(w.ctx, w.client, w.cfg.MarkersTopic, key)
			if err != nil || v == nil || *v != want {
				t.Errorf("%s: %v, %v; want %s", key, v, err, want)
			}
		}
	})
}
