package kmq

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestALineOutlivesWhatAHandlerMakesOfItsRecord(t *testing.T) {
	for _, order := range []Order{ByPartition, ByKey} {
		t.Run(string(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const each = 5
				records := numbered(2 * each)
				for i, r := range records {
					r.Partition, r.Key = int32(i%2), []byte{byte(i % 2)}
				}
				q := newMemory(records...).queue(t, Markers{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				start, done := time.Now(), make(chan string, len(records))
				q.order = order
				err := q.Run(ctx, func(_ context.Context, d Delivery) error {
					// With these values the record would belong to the other line, or to none.
					d.Record.Topic, d.Record.Offset = "out", 100
					d.Record.Partition = 1 - d.Record.Partition + int32(d.ID().Offset/4)
					d.Record.Key = []byte{byte(d.Record.Partition)}
					time.Sleep(time.Second)
					done <- fmt.Sprintf("%d at %v", d.ID().Offset, time.Since(start))
					if len(done) == len(records) {
						cancel()
					}
					return nil
				}, RunConfig{Workers: 4})
				if err != nil {
					t.Errorf("run: %v", err)
				}
				at := make(map[string]bool)
				for range len(done) {
					at[<-done] = true
				}
				for i := range records {
					if want := fmt.Sprintf("%d at %ds", i, i/2+1); !at[want] {
						t.Errorf("want record %s; the handlers ended: %v", want, at)
					}
				}
			})
		})
	}
}
