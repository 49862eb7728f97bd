//go:build proof

package secured

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

const rightsScenario = `
topic: {partitions: 1}
load: {rate: 50/s, acks: all}
consume: {consumers: 1, protocol: classic}
phases: {warmup: 200ms, measure: 1s, drain: 30s}
`

// acl is one right of the guide's list.
type acl struct {
	kind      kmsg.ACLResourceType
	name      string // a prefix, unless it is existingTopic
	operation kmsg.ACLOperation
}

const (
	ownPrefix     = "kafka-bench-"
	existingTopic = "orders-in"
)

// The guide's lists: DESCRIBE comes with each of these rights.
var (
	ofGroups  = []acl{{kmsg.ACLResourceTypeGroup, ownPrefix, kmsg.ACLOperationRead}, {kmsg.ACLResourceTypeGroup, ownPrefix, kmsg.ACLOperationDelete}}
	ownTopics = append([]acl{
		{kmsg.ACLResourceTypeTopic, ownPrefix, kmsg.ACLOperationCreate}, {kmsg.ACLResourceTypeTopic, ownPrefix, kmsg.ACLOperationWrite},
		{kmsg.ACLResourceTypeTopic, ownPrefix, kmsg.ACLOperationRead}, {kmsg.ACLResourceTypeTopic, ownPrefix, kmsg.ACLOperationDelete},
	}, ofGroups...)
	existingTopics = append([]acl{
		{kmsg.ACLResourceTypeTopic, existingTopic, kmsg.ACLOperationWrite}, {kmsg.ACLResourceTypeTopic, existingTopic, kmsg.ACLOperationRead},
	}, ofGroups...)
)

// testRights: with the guide's list a run is valid. Without any one right of it, the run is refused before load, and
// leaves no topic.
func testRights(t *testing.T, b *broker) {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addresses["ADMIN"]))
	check(t, err)
	defer client.Close()
	admin := kadm.NewClient(client)
	_, err = admin.CreateTopic(t.Context(), 1, 1, nil, existingTopic)
	check(t, err)
	for name, list := range map[string]struct {
		rights   []acl
		override string
	}{"own topic": {ownTopics, ""}, "existing topic": {existingTopics, "topic={existing: " + existingTopic + "}"}} {
		t.Run(name, func(t *testing.T) {
			allow(t, admin, list.rights)
			if r, err := b.tryRun(t, list.override); err != nil {
				t.Fatalf("with the guide's list: %v", err)
			} else if r.Load.Acked != 50 || r.Delivery.Delivered != 50 {
				t.Errorf("with the guide's list %d are acked and %d delivered, want 50", r.Load.Acked, r.Delivery.Delivered)
			}
			for i, taken := range list.rights {
				t.Run("without "+taken.operation.String()+" on "+taken.kind.String(), func(t *testing.T) {
					left := append(append([]acl{}, list.rights[:i]...), list.rights[i+1:]...)
					allow(t, admin, left)
					_, err := b.tryRun(t, list.override)
					if !errors.Is(err, cluster.ErrRefused) || strings.Contains(err.Error(), "was not deleted") {
						t.Errorf("the run is not refused: %v", err)
					}
					wantNoTopic(t, admin)
				})
			}
		})
	}
}

func allow(t *testing.T, admin *kadm.Client, rights []acl) {
	t.Helper()
	all := kadm.NewACLs().AnyResource().Allow().AllowHosts().Deny().DenyHosts().Operations().ResourcePatternType(kadm.ACLPatternAny)
	_, err := admin.DeleteACLs(t.Context(), all)
	check(t, err)
	for _, r := range rights {
		builder := kadm.NewACLs().Allow("User:" + limited).AllowHosts().Operations(r.operation)
		builder = builder.ResourcePatternType(kadm.ACLPatternPrefixed)
		if r.kind == kmsg.ACLResourceTypeTopic {
			builder = builder.Topics(r.name)
		} else {
			builder = builder.Groups(r.name)
		}
		results, err := admin.CreateACLs(t.Context(), builder)
		check(t, err)
		for _, result := range results {
			check(t, result.Err)
		}
	}
}

func (b *broker) tryRun(t *testing.T, override string) (*result.Run, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	a := accesstest.Access(t, append([]string{"security.protocol=SASL_PLAINTEXT"}, accesstest.Login("SCRAM-SHA-256", limited, password)...)...)
	found, err := cluster.Connect(ctx, []string{b.addresses["LOGIN"]}, "", a)
	check(t, err)
	var overrides []string
	if override != "" {
		overrides = append(overrides, override)
	}
	s, err := scenario.Parse("rights.yaml", []byte(rightsScenario), overrides...)
	check(t, err)
	made, err := bench.Run(ctx, bench.Config{Scenario: s, Cluster: found, Driver: franz.New(), Out: t.TempDir(),
		Tool: result.Tool{Version: "test"}})
	if err != nil {
		return nil, err
	}
	return &made.Run, nil
}

func wantNoTopic(t *testing.T, admin *kadm.Client) {
	t.Helper()
	topics, err := admin.ListTopics(t.Context())
	check(t, err)
	for name := range topics {
		if strings.HasPrefix(name, ownPrefix) {
			t.Errorf("the topic %s is left", name)
		}
	}
}
