//go:build full

package main

import (
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

// In a synctest bubble this test could hang, because franz-go sometimes leaves a goroutine of a
// refused group member.
func TestRefusedGroup(t *testing.T) {
	e, err := cluster.StartEmbedded(cluster.EmbeddedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Stop(t.Context()) }()
	e.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Err: kerr.GroupAuthorizationFailed, Count: -1})
	out := filepath.Join(t.TempDir(), "runs")
	got := invoke(t, "run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--out", out)
	const want = "scenario s: the run's consumers: the cluster does not allow it: GROUP_AUTHORIZATION_FAILED: Not authorized to access group: Group authorization failed.; allow this user CREATE, READ, WRITE and DELETE on the topic, and READ and DELETE on the group; a run names both kafka-bench-…, so a prefixed ACL serves (kafka-acls --resource-pattern-type prefixed)"
	if got.message() != want || got.code != exitUnreachable {
		t.Errorf("exit code %d and the message\n%s, want %d and\n%s", got.code, got.message(), exitUnreachable, want)
	}
	wantNothing(t, out)
	if left := topics(t, kgo.SeedBrokers(e.Bootstrap()...)); len(left) > 0 {
		t.Errorf("the topics %v were left behind", left)
	}
}
