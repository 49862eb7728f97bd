package sarama

import (
	"context"
	"testing"
	"testing/synctest"

	ibm "github.com/IBM/sarama"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func aShelf() *shelf {
	s := newShelf()
	s.content = func(int) {}
	return s
}

func TestShelfKeepsEveryRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := aShelf()
		partitions := rapid.IntRange(1, 4).Draw(t, "partitions")
		each := rapid.SampledFrom([]int{1, 10, maxReady + 1, 2*maxReady + 7}).Draw(t, "each")
		atMost := rapid.SampledFrom([]int{0, 1000, maxReady + 3}).Draw(t, "at most")
		for p := range int32(partitions) {
			s.own([]int32{p})
			messages := make(chan *ibm.ConsumerMessage, rapid.SampledFrom([]int{0, 256}).Draw(t, "buffer"))
			go s.put(p, messages, func() int64 { return int64(each) })
			go func() {
				defer close(messages)
				for i := range each {
					messages <- &ibm.ConsumerMessage{Offset: int64(i)}
				}
			}()
		}
		next := make(map[int32]int64)
		for left := partitions * each; left > 0; {
			paused := int32(rapid.IntRange(-1, partitions-1).Draw(t, "paused"))
			s.pause([]int32{paused})
			ctx, cancel := context.WithCancel(context.Background())
			if paused >= 0 { // all the other partitions may have ended
				cancel()
			}
			chunks, err := s.poll(ctx, atMost)
			cancel()
			left -= checkChunks(t, chunks, next, paused, atMost)
			if err != nil {
				t.Fatal(err)
			}
			s.resume([]int32{paused})
		}
	})
}

func checkChunks(t *rapid.T, chunks []driver.Chunk, next map[int32]int64, paused int32, atMost int) (records int) {
	for _, chunk := range chunks {
		if chunk.Partition == paused || len(chunk.Records) == 0 {
			t.Fatalf("a chunk of %d records of partition %d, while %d is paused", len(chunk.Records), chunk.Partition, paused)
		}
		for _, r := range chunk.Records {
			if r.Offset != next[chunk.Partition] {
				t.Fatalf("partition %d: offset %d, want %d", chunk.Partition, r.Offset, next[chunk.Partition])
			}
			next[chunk.Partition]++
		}
		records += len(chunk.Records)
		chunk.Free()
	}
	if atMost > 0 && records > atMost {
		t.Fatalf("%d records in a poll of at most %d", records, atMost)
	}
	return records
}

func TestRebalanceWaitsForThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aShelf()
		s.own([]int32{0})
		messages := make(chan *ibm.ConsumerMessage, 2)
		messages <- &ibm.ConsumerMessage{}
		go s.put(0, messages, func() int64 { return 2 })
		if chunks, err := s.poll(t.Context(), 0); err != nil || len(chunks) != 1 {
			t.Fatal(len(chunks), err)
		}
		messages <- &ibm.ConsumerMessage{Offset: 1}
		began, revoked := false, make(chan struct{})
		go func() {
			s.begin()
			began = true
			<-revoked
			s.disown([]int32{0})
			s.end()
		}()
		synctest.Wait()
		if began {
			t.Error("the rebalance did not wait for the caller")
		}
		ctx, cancel := context.WithCancel(t.Context())
		polled := make(chan int)
		go func() {
			chunks, _ := s.poll(ctx, 0)
			polled <- len(chunks)
		}()
		synctest.Wait()
		if !began {
			t.Error("the rebalance waits though the caller polls")
		}
		close(revoked)
		synctest.Wait()
		cancel()
		if n := <-polled; n > 0 {
			t.Errorf("%d chunks of a partition that was revoked", n)
		}
		close(messages)
	})
}
