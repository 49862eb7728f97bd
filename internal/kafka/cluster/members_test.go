package cluster

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestPutOut: a group whose member does not leave can be deleted at once when the
// member was put out of it, in either protocol.
func TestPutOut(t *testing.T) {
	for name, protocol := range map[string][]kgo.Opt{"classic": nil, "consumer": {kgo.ServerSideBalancer()}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, EmbeddedOptions{}, func(t *testing.T, e *Embedded) { testPutOut(t, e, protocol) })
		})
	}
}

func testPutOut(t *testing.T, e *Embedded, protocol []kgo.Opt) {
	admin, topic := testTopic(t, e, "grouped", 1, 1)
	if err := admin.PutOut(testContext(t), "never-was"); err != nil {
		t.Errorf("a group that is not there: %v", err)
	}
	produce(t, e, topic.Name, "x")
	options := append([]kgo.Opt{kgo.ConsumerGroup("group"), kgo.ConsumeTopics(topic.Name),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, protocol...)
	client, err := newClient(e.Bootstrap(), e.Access(), options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.PollFetches(testContext(t))
	if _, err := admin.kadm.DeleteGroup(testContext(t), "group"); err == nil {
		t.Fatal("a group with a member was deleted")
	}
	if err := admin.PutOut(testContext(t), "group"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.kadm.DeleteGroup(testContext(t), "group"); err != nil {
		t.Error(err)
	}
}
