package segmentio

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func TestRecordsAreCountedAsTheyAreEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 200))
		var records []protocol.Record
		for range rapid.IntRange(1, 150).Draw(t, "records") {
			ms := rapid.Int64Range(1, 1<<41).Draw(t, "time")
			records = append(records, protocol.Record{
				Time: time.UnixMilli(ms), Key: protocol.NewBytes(field.Draw(t, "key")), Value: protocol.NewBytes(field.Draw(t, "value")),
			})
		}
		counted := guard(protocol.NewRecordReader(records...))
		var encoded bytes.Buffer
		set := protocol.RecordSet{Version: 2, Records: counted}
		if _, err := set.WriteTo(&encoded); err != nil {
			t.Fatal(err)
		}
		if want := encoded.Len() - 4 - batchHeader; counted.bytes != want || counted.count != len(records) {
			t.Fatalf("counted %d records in %d bytes, want %d in %d", counted.count, counted.bytes, len(records), want)
		}
	})
}

func TestGivenUpRecordsAreNotRead(t *testing.T) {
	before := guard(protocol.NewRecordReader(protocol.Record{}))
	if before.giveUp() {
		t.Error("records that nobody read were encoded")
	}
	if _, err := before.ReadRecord(); !errors.Is(err, errGivenUp) {
		t.Errorf("reading records that were given up: %v", err)
	}

	synctest.Test(t, func(t *testing.T) {
		during := guard(protocol.NewRecordReader(protocol.Record{}, protocol.Record{}))
		read(t, during, nil)
		given := make(chan bool, 1)
		go func() { given <- during.giveUp() }()
		synctest.Wait()
		if len(given) > 0 {
			t.Fatal("gave up in the middle of the encoding")
		}
		read(t, during, nil)
		read(t, during, io.EOF)
		if !<-given {
			t.Error("records that were read to their end were not encoded")
		}
	})
}

func read(t *testing.T, g *guarded, want error) {
	t.Helper()
	if _, err := g.ReadRecord(); !errors.Is(err, want) {
		t.Fatalf("reading: %v, want %v", err, want)
	}
}

func TestAgesFollowTheBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var model []time.Time
		tr := &trial{}
		at := time.Unix(1000, 0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) {
				at = at.Add(time.Second)
				model = append(model, at)
				tr.push(at)
			},
			"pull": func(*rapid.T) {
				if len(model) > 0 {
					model = model[:len(model)-1]
					tr.pull()
				}
			},
			"settle": func(t *rapid.T) {
				n := rapid.IntRange(0, len(model)).Draw(t, "records")
				model = model[n:]
				tr.settle(n, nil)
			},
			"": func(t *rapid.T) {
				until, bounded := tr.until(time.Minute)
				if bounded != (len(model) > 0) || bounded && !until.Equal(model[0].Add(time.Minute)) {
					t.Fatalf("the batch in hand is bounded: %t, by %v; there are %d records", bounded, until, len(model))
				}
			},
		})
	})
}

// TestRefusals: with acks all, an error of a broker that is not the leader is ambiguous.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		code kafka.Error
		acks driver.Acks
		want bool
	}{
		{kafka.MessageSizeTooLarge, driver.AcksAll, true},
		{kafka.NotLeaderForPartition, driver.AcksLeader, true},
		{kafka.NotLeaderForPartition, driver.AcksAll, false},
		{kafka.NotEnoughReplicas, driver.AcksAll, true},
		{kafka.NotEnoughReplicasAfterAppend, driver.AcksAll, false},
		{kafka.RequestTimedOut, driver.AcksLeader, false},
		{kafka.Unknown, driver.AcksLeader, false},
	} {
		if got := refuses(test.code, test.acks); got != test.want {
			t.Errorf("%v at acks %d refuses: %t, want %t", test.code, test.acks, got, test.want)
		}
	}
}
