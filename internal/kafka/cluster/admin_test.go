package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

func TestDeleteTopicByID(t *testing.T) { inVirtualTime(t, EmbeddedOptions{}, testDeleteTopicByID) }

func testDeleteTopicByID(t *testing.T, e *Embedded) {
	admin, topic := testTopic(t, e, "mine", 4, 1)
	if topic.Name != "mine" || topic.Partitions != 4 || topic.Existing || topic.ID == [16]byte{} {
		t.Errorf("CreateTopic() = %+v", topic)
	}
	_, err := admin.CreateTopic(testContext(t), "mine", 1, 1, nil)
	wantError(t, err, ErrRefused, `"mine"`, "another name")

	if err := e.Fake().DeleteTopic("mine"); err != nil {
		t.Fatal(err)
	}
	_, other := testTopic(t, e, "mine", 2, 1)
	if err := admin.DeleteTopic(testContext(t), topic); err != nil {
		t.Errorf("deleting a topic that is gone: %v", err)
	}
	found, err := admin.UseExisting(testContext(t), "mine")
	if err != nil || found.ID != other.ID || !found.Existing || found.Partitions != 2 {
		t.Errorf("the other topic: %+v, %v", found, err)
	}
	if err := admin.DeleteTopic(testContext(t), found); err != nil {
		t.Error(err)
	}
	if _, err := admin.UseExisting(testContext(t), "mine"); err != nil {
		t.Errorf("DeleteTopic deleted an existing topic: %v", err)
	}
	if err := admin.DeleteTopic(testContext(t), other); err != nil {
		t.Error(err)
	}
	_, err = admin.UseExisting(testContext(t), "mine")
	wantError(t, err, ErrInput, `"mine" does not exist`, "topic.existing")
	wantError(t, admin.DeleteTopic(testContext(t), Topic{Name: "old"}), ErrRefused, "no ID")
}

func TestAdminRefused(t *testing.T) {
	tests := map[string]struct {
		key  kmsg.Key
		code *kerr.Error
		call func(context.Context, *Admin) error
		want []string
	}{
		"create, not allowed": {
			kmsg.CreateTopics, kerr.TopicAuthorizationFailed,
			func(ctx context.Context, a *Admin) error { _, err := a.CreateTopic(ctx, "new", 1, 1, nil); return err },
			[]string{`"new" was not created`, "allow this user CREATE", "topic.existing"},
		},
		"create, against policy": {
			kmsg.CreateTopics, kerr.PolicyViolation,
			func(ctx context.Context, a *Admin) error { _, err := a.CreateTopic(ctx, "new", 1, 1, nil); return err },
			[]string{`"new" was not created`, "policy"},
		},
		"use, not allowed": {
			kmsg.Metadata, kerr.TopicAuthorizationFailed,
			func(ctx context.Context, a *Admin) error { _, err := a.UseExisting(ctx, "there"); return err },
			[]string{`"there" can't be used`, "rights"},
		},
		"delete, not allowed": {
			kmsg.DeleteTopics, kerr.TopicAuthorizationFailed,
			func(ctx context.Context, a *Admin) error {
				topic, err := a.UseExisting(ctx, "there")
				topic.Existing = false
				return errors.Join(err, a.DeleteTopic(ctx, topic))
			},
			[]string{`"there" can't be deleted`, "rights"},
		},
		"delete group, not allowed": {
			kmsg.DeleteGroups, kerr.GroupAuthorizationFailed,
			func(ctx context.Context, a *Admin) error { return a.DeleteGroup(ctx, "group") },
			[]string{`"group" can't be deleted`, "rights"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, EmbeddedOptions{}, func(t *testing.T, e *Embedded) {
				admin, _ := testTopic(t, e, "there", 1, 1)
				e.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{test.key}, Err: test.code, Count: -1})
				wantError(t, test.call(testContext(t), admin), ErrRefused, test.want...)
			})
		})
	}
}

func TestAdminUnreachable(t *testing.T) {
	admin, err := NewAdmin([]string{freeAddr(t)}, access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	_, err = admin.CreateTopic(testContext(t), "new", 1, 1, nil)
	wantError(t, err, ErrUnreachable, `"new" was not created`, "can be reached")
	_, err = NewAdmin([]string{"localhost:none"}, access.Access{})
	wantError(t, err, ErrInput, "host:port")
}

func TestDeleteGroup(t *testing.T) { inVirtualTime(t, EmbeddedOptions{}, testDeleteGroup) }

func testDeleteGroup(t *testing.T, e *Embedded) {
	admin, topic := testTopic(t, e, "grouped", 1, 1)
	if err := admin.DeleteGroup(testContext(t), "never-was"); err != nil {
		t.Errorf("a group that is not there: %v", err)
	}
	produce(t, e, topic.Name, "x")
	client, err := newClient(e.Bootstrap(), e.Access(), kgo.ConsumerGroup("group"), kgo.ConsumeTopics(topic.Name),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	client.PollFetches(testContext(t))
	done := make(chan error)
	go func() { done <- admin.DeleteGroup(testContext(t), "group") }()
	select {
	case err := <-done:
		t.Fatalf("DeleteGroup() = %v while a member is there", err)
	case <-time.After(2*groupPoll + groupPoll/4):
	}
	leaves := time.Now()
	client.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(leaves); took != groupPoll*3/4 {
		t.Errorf("it took %v after the member left, want %v", took, groupPoll*3/4)
	}
	groups, err := admin.kadm.ListGroups(testContext(t))
	if err != nil || len(groups) != 0 {
		t.Errorf("groups left: %v, %v", groups, err)
	}
}

// TestInternalTopic: a topic that the brokers call internal is not used, whatever its name.
func TestInternalTopic(t *testing.T) {
	c := startFake(t, kfake.SeedTopics(1, "journal"))
	c.ControlKey(int16(kmsg.Metadata), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req, resp := kreq.(*kmsg.MetadataRequest), kreq.ResponseKind().(*kmsg.MetadataResponse)
		if len(req.Topics) == 0 {
			return nil, nil, false
		}
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.IsInternal = req.Topics[0].Topic, true
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	admin, err := NewAdmin(c.ListenAddrs(), access.Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	_, err = admin.UseExisting(testContext(t), "journal")
	wantError(t, err, ErrInput, `the topic "journal" is internal`, "topic.existing")
}
