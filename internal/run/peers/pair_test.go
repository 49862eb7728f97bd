package peers

import (
	"context"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
	"kafkabench.example/kafka-bench/internal/project/virtual"
)

// A pair that is killed leaves a topic whose age is known from its name.
func TestPairHasItsTimes(t *testing.T) {
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) {
		admin, err := cluster.NewAdmin(c.Bootstrap(), c.Access())
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close()
		p := Pair{Tools: Tools{Java: cluster.Java{Path: "no such java"}, Cluster: c}, Admin: admin, ID: "k3x7qa", Round: 12}
		if _, err := p.Produce(context.Background(), parse(t, "load: {rate: 1k/s}\nphases: {warmup: 5s, measure: 55s}"), 0); err == nil {
			t.Error("there is no Java, and no error")
		}
		topics, err := kadm.NewClient(c.NewClient(t)).ListTopics(t.Context())
		if want := "kafka-bench-peers-20000101T000000Z-20000101T011200Z-k3x7qa-12"; err != nil || !slices.Equal(topics.Names(), []string{want}) {
			t.Errorf("the topics are %v, %v; want %s", topics.Names(), err, want)
		}
		if of, ok := runname.Parse(topics.Names()[0]); !ok || of.ID != "k3x7qa" {
			t.Errorf("its name is read as %+v", of)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
