package kgogate

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// transaction writes n records to a partition and ends with one offset that is no record.
func (p *plant) transaction(topic string, id int32, n int, end kgo.TransactionEndTry) {
	p.t.Helper()
	client := p.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("orders"))
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		p.t.Fatal(err)
	}
	for range n {
		if err := client.ProduceSync(context.Background(), &kgo.Record{Topic: topic, Partition: id, Value: []byte("v")}).FirstErr(); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := client.EndTransaction(context.Background(), end); err != nil {
		p.t.Fatal(err)
	}
}

// after returns the lag at once, and after the partitions have stood still.
func (p *plant) after(s *lagSource) (first, then int64) {
	p.t.Helper()
	first = p.read(s).Lag
	time.Sleep(standsStill)
	return first, p.read(s).Lag
}

func (p *plant) lags(s *lagSource, first, then int64) {
	p.t.Helper()
	if gotFirst, gotThen := p.after(s); gotFirst != first || gotThen != then {
		p.t.Errorf("the lag is %d, and %d after %v; want %d and %d", gotFirst, gotThen, standsStill, first, then)
	}
}

// Retention deleted records that the group never read: they are no lag.
func TestDeletedRecordsAreNoLag(t *testing.T) {
	inVirtualTime(t, []string{"t"}, func(p *plant) {
		p.produce("t", 0, 1000)
		p.commit("t", 0, 100)
		s := p.source(Config{Topics: []string{"t"}})
		p.lags(s, 900, 900)
		if _, err := p.admin.DeleteRecords(context.Background(), kadm.Offsets{"t": {0: {Topic: "t", Partition: 0, At: 1000}}}); err != nil {
			t.Fatal(err)
		}
		p.lags(s, 900, 0)
		p.produce("t", 0, 3)
		p.lags(s, 3, 3)
		p.commit("t", 0, 1001)
		p.lags(s, 2, 2)
	})
}

// Each partition ends with the end of a transaction, which most consumers never commit past.
func TestEndsOfTransactionsAreNoLag(t *testing.T) {
	inVirtualTime(t, []string{"t"}, func(p *plant) {
		for id := range int32(2) {
			p.transaction("t", id, 1, kgo.TryCommit)
			p.commit("t", id, 1)
		}
		s := p.source(Config{Topics: []string{"t"}})
		p.lags(s, 2, 0)
		p.transaction("t", 1, 2, kgo.TryCommit) // two records, and one more end
		p.lags(s, 3, 3)
		p.commit("t", 1, 4)
		p.lags(s, 1, 0)
	})
}

// An aborted transaction is no lag, whatever follows it. Records of an open one are.
func TestAbortedRecordsAreNoLag(t *testing.T) {
	inVirtualTime(t, []string{"t"}, func(p *plant) {
		p.transaction("t", 0, 300, kgo.TryAbort)
		p.commit("t", 0, 0)
		s := p.source(Config{Topics: []string{"t"}})
		p.lags(s, 301, 0)
		p.produce("t", 0, 5)
		p.lags(s, 5, 5)
		p.commit("t", 0, 306)

		open := p.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("open"))
		defer open.Close()
		if err := open.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := open.ProduceSync(context.Background(), &kgo.Record{Topic: "t", Value: []byte("v")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		p.lags(s, 1, 1)
		if err := open.EndTransaction(context.Background(), kgo.TryAbort); err != nil {
			t.Fatal(err)
		}
		p.lags(s, 2, 0)
	})
}

// Without the right to read the topic, the source cannot tell, and says so.
func TestUnreadableRest(t *testing.T) {
	inVirtualTime(t, []string{"t"}, func(p *plant) {
		p.transaction("t", 0, 1, kgo.TryCommit)
		p.commit("t", 0, 1)
		denied := p.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1})
		s := p.source(Config{Topics: []string{"t"}})
		if r := p.read(s); r.Unreadable {
			t.Error("it has not stood still")
		}
		time.Sleep(standsStill)
		if r := p.read(s); !r.Unreadable || r.Lag != 1 {
			t.Errorf("%+v", r)
		}
		denied.Remove()
		time.Sleep(standsStill)
		if r := p.read(s); r.Unreadable || r.Lag != 0 {
			t.Errorf("with the right: %+v", r)
		}
	})
}

func TestShareGroupIsRefused(t *testing.T) {
	inVirtualTime(t, []string{"t"}, func(p *plant) {
		p.cluster.ControlKey(int16(kmsg.ListGroups), func(req kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
			for _, wanted := range req.(*kmsg.ListGroupsRequest).TypesFilter {
				if wanted == "share" {
					g := kmsg.NewListGroupsResponseGroup()
					g.Group, g.GroupType = "billing", "share"
					resp.Groups = append(resp.Groups, g)
				}
			}
			return resp, nil, true
		})
		p.produce("t", 0, 1)
		_, err := p.source(Config{Topics: []string{"t"}}).Read(context.Background())
		if err == nil || !strings.Contains(err.Error(), "group billing is a share group") {
			t.Errorf("read: %v", err)
		}
	})
}

// More partitions than one reading looks at: the others follow at the next readings, without another wait.
func TestManyRestsAreResolvedOneReadingAfterAnother(t *testing.T) {
	inVirtualTime(t, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, func(p *plant) {
		topics := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
		for _, topic := range topics {
			for id := range int32(2) {
				p.transaction(topic, id, 1, kgo.TryCommit)
				p.commit(topic, id, 1)
			}
		}
		s := p.source(Config{Topics: topics})
		p.lags(s, 20, 4)
		if r := p.read(s); r.Lag != 0 {
			t.Errorf("the lag is %d at the next reading", r.Lag)
		}
	})
}

// A record that the group has not read is lag. When compaction removes it, that is noticed.
func TestARecordIsLookedForAgain(t *testing.T) {
	inVirtualTime(t, []string{"t"}, func(p *plant) {
		p.produce("t", 0, 1)
		p.commit("t", 0, 0)
		p.transaction("t", 0, 1, kgo.TryAbort)
		s := p.source(Config{Topics: []string{"t"}})
		p.lags(s, 3, 3)
		looks := p.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: -1})
		defer looks.Remove()
		for range 10 {
			time.Sleep(recordStays / 20)
			p.read(s)
		}
		if n := looks.Hits(); n != 0 {
			t.Errorf("%d looks within half of the time", n)
		}
		time.Sleep(recordStays)
		if p.read(s); looks.Hits() == 0 {
			t.Error("it was not looked for again")
		}
	})
}
