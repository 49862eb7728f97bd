package member

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

func TestTransientTroubleIsRetried(t *testing.T) {
	for _, trouble := range []struct {
		name  string
		fault kfake.Fault
	}{
		{"the coordinator moves", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.NotCoordinator, Count: 3}},
		{"the coordinator loads", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.CoordinatorLoadInProgress, Count: 3}},
		{"a commit is written and fails", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.RequestTimedOut, Count: 3}},
		{"one partition can't be committed", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Partitions: []int32{0}, Err: kerr.OffsetMetadataTooLarge, Count: 20}},
		{"the leader moves", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.NotLeaderForPartition, Count: 3}},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlace(t)
				fault := p.cluster.Fault(trouble.fault)
				r := newRecorder(100)
				m := p.open(r, 100)
				p.produce(40)
				p.take(m, 40)
				p.until("commits in spite of it", func() bool {
					var c engine.Counts
					m.Counts(&c)
					return c.CommitBehind == 0 && len(m.Owned()) == 4
				})
				if fault.Hits() == 0 {
					t.Error("there was no trouble")
				}
				if err := m.Close(t.Context()); err != nil {
					t.Errorf("close: %v", err)
				}
				offsets, err := kadm.NewClient(p.client).FetchOffsets(t.Context(), group)
				if err != nil {
					t.Fatal(err)
				}
				for partition := range int32(4) {
					if o, _ := offsets.Lookup(topic, partition); o.At != 10 {
						t.Errorf("partition %d is committed at %d, want 10", partition, o.At)
					}
				}
			})
		})
	}
}

func TestWhatNoWaitingMendsEndsTheMember(t *testing.T) {
	for _, end := range []struct {
		name  string
		fault kfake.Fault
		begin error
		want  error
	}{
		{"the group is forbidden", kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, TopLevel: true, Err: kerr.GroupAuthorizationFailed, Count: -1}, nil, kerr.GroupAuthorizationFailed},
		{"the topic is forbidden", kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1}, nil, kerr.TopicAuthorizationFailed},
		{"commits are forbidden", kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1}, nil, kerr.TopicAuthorizationFailed},
		{"the engine fails", kfake.Fault{}, errors.New("the engine fails"), nil},
	} {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlace(t)
				if end.begin == nil {
					p.cluster.Fault(end.fault)
				}
				r := newRecorder(100)
				r.beginErr = end.begin
				m := p.open(r, 100)
				p.produce(40)
				ctx, cancel := context.WithTimeout(t.Context(), deniedFor+patience)
				defer cancel()
				for {
					_, err := engine.Receive(ctx, m, 10)
					if err == nil {
						continue
					}
					if want := cmpErr(end.want, end.begin); !errors.Is(err, want) {
						t.Errorf("receive: %v, want %v", err, want)
					}
					return
				}
			})
		})
	}
}

// A permission that is missing for less than a minute ends no member.
func TestAMistakenPermissionIsMended(t *testing.T) {
	for _, fault := range []kfake.Fault{
		{Keys: []kmsg.Key{kmsg.JoinGroup}, TopLevel: true, Err: kerr.GroupAuthorizationFailed, Count: -1},
		{Keys: []kmsg.Key{kmsg.Fetch}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1},
		{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Err: kerr.TopicAuthorizationFailed, Count: -1},
	} {
		t.Run(kmsg.NameForKey(fault.Keys[0].Int16()), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlace(t)
				m := p.open(newRecorder(100), 100)
				p.produce(40)
				for range 3 {
					denied := p.cluster.Fault(fault)
					time.Sleep(deniedFor / 2)
					denied.Remove()
					time.Sleep(deniedFor / 2)
				}
				leases, err := m.Take(t.Context(), 40)
				if err != nil || len(leases) == 0 {
					t.Errorf("%d records: %v", len(leases), err)
				}
			})
		})
	}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func TestCloseEndsWhereTheClusterIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.produce(40)
		r := newRecorder(100)
		cfg := p.config(r, 100)
		cfg.CommitEvery = time.Minute
		m, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer r.set.Close()
		p.take(m, 40)
		_ = p.on.Stop(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := m.Close(ctx); err == nil {
			t.Error("nobody says that the last offsets are not committed")
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
