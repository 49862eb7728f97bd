package crash

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type follower struct {
	topic   string
	admin   *kadm.Client
	client  *kgo.Client
	records map[int32][]*kgo.Record // in offset order, with gaps
	next    map[int32]int64
}

func (v *world) follow(topic string) *follower {
	v.t.Helper()
	at := make(map[int32]kgo.Offset)
	for p := range v.spec.Partitions {
		at[p] = kgo.NewOffset().At(0)
	}
	opts := []kgo.Opt{
		kgo.KeepControlRecords(), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: at}), kgo.MetadataMinAge(50 * time.Millisecond),
	}
	return &follower{
		topic: topic, admin: v.admin, client: v.newClient(opts...),
		records: make(map[int32][]*kgo.Record), next: make(map[int32]int64),
	}
}

func (f *follower) sync(ctx context.Context) error {
	var ends map[int32]kadm.ListedOffset
	for {
		listed, err := f.admin.ListEndOffsets(ctx, f.topic)
		if err == nil {
			err = listed.Error()
		}
		if err == nil {
			ends = listed[f.topic]
			break
		}
		if ctx.Err() != nil {
			return fmt.Errorf("end of %s: %w", f.topic, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	for f.before(ends) {
		fetches := f.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: read %v of %v: %w", f.topic, f.next, ends, ctx.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset < f.next[r.Partition] {
				return
			}
			f.next[r.Partition] = r.Offset + 1
			if !r.Attrs.IsControl() {
				f.records[r.Partition] = append(f.records[r.Partition], r)
			}
		})
	}
	return nil
}

func (f *follower) before(ends map[int32]kadm.ListedOffset) bool {
	for p, end := range ends {
		if f.next[p] < end.Offset {
			return true
		}
	}
	return false
}

func (f *follower) at(partition int32, offset int64) *kgo.Record {
	records := f.records[partition]
	i, found := slices.BinarySearchFunc(records, offset, func(r *kgo.Record, o int64) int { return int(r.Offset - o) })
	if !found {
		return nil
	}
	return records[i]
}

func header(r *kgo.Record, key string) []byte {
	for _, h := range r.Headers {
		if h.Key == key {
			return h.Value
		}
	}
	return nil
}
