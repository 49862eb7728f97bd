package cluster

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func testHome(t *testing.T) Home {
	t.Helper()
	home, err := UserHome()
	if err != nil {
		t.Fatal(err)
	}
	home.Clusters = t.TempDir()
	return home
}

// testContext ends before the test binary's own timeout, so that clean-up runs.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func testTopic(t *testing.T, c Cluster, name string, partitions, replication int) (*Admin, Topic) {
	t.Helper()
	admin, err := NewAdmin(c.Bootstrap(), AccessTo(c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	topic, err := admin.CreateTopic(testContext(t), name, partitions, replication, nil)
	if err != nil {
		t.Fatal(err)
	}
	return admin, topic
}

func produce(t *testing.T, c Cluster, topic, value string) {
	t.Helper()
	client, err := newClient(c.Bootstrap(), AccessTo(c))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(testContext(t), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
		t.Fatalf("produce %q: %v", value, err)
	}
}

func consume(t *testing.T, c Cluster, topic string, n int) map[string]int {
	t.Helper()
	client, err := newClient(c.Bootstrap(), AccessTo(c), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, values, got := testContext(t), make(map[string]int), 0
	for got < n && ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			values[string(r.Value)]++
			got++
		})
	}
	return values
}

func wantEmpty(t *testing.T, home Home) {
	t.Helper()
	entries, err := os.ReadDir(home.Clusters)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), folderPrefix) {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

func wantError(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error %v, want one of kind %q", err, kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not mention %q:\n%v", word, err)
		}
	}
}
