package cluster

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

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
	kind, told := ClassicGroup, true
	if len(protocol) > 0 {
		kind, told = ConsumerGroup, false // the embedded broker omits the topic's name
	}
	state, members, err := admin.Members(testContext(t), "group", topic.Name, kind)
	if err != nil || state != stable || len(members) != 1 || members[0].ID == "" || members[0].ClientID == "" ||
		members[0].Host == "" || (members[0].Partitions != nil) != told || told && len(members[0].Partitions) != 1 {
		t.Errorf("the group is %s and has %+v: %v", state, members, err)
	}
	if _, nobody, err := admin.Members(testContext(t), "never-was", topic.Name, kind); err != nil || len(nobody) > 0 {
		t.Errorf("a group that is not there has %+v: %v", nobody, err)
	}
	partitions, err := admin.Partitions(testContext(t), topic.Name)
	if err != nil || len(partitions) != 1 || partitions[0].Leader < 0 || len(partitions[0].InSync) != 1 {
		t.Errorf("the topic has %+v: %v", partitions, err)
	}
	if err := admin.PutOut(testContext(t), "group"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.kadm.DeleteGroup(testContext(t), "group"); err != nil {
		t.Error(err)
	}
}
