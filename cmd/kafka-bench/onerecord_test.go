package main

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// franz-go has no setting for batches of one record, so the bound in bytes makes them. Records wait
// in the client, because a request takes a while: with a larger bound they share batches.
func TestBatchesOfOneRecord(t *testing.T) {
	for _, set := range []string{
		"load.batch=0", "load.batch=1 record", "load={batch: 1 record, record: {size: 219B}}",
		"load={batch: 0, record: {size: 600B, keys: {distribution: uniform, count: 9}}}",
		"load={batch: 1 record, record: {size: {uniform: [900B, 1KiB]}}}",
	} {
		t.Run(set, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				l.embedded.ProduceDelay = 10 * time.Millisecond
				e := l.start(t)
				var batches, records int64
				e.Fake().ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
					e.Fake().KeepControl()
					for _, topic := range r.(*kmsg.ProduceRequest).Topics {
						for _, p := range topic.Partitions {
							for rest := p.Records; len(rest) > 0; rest = rest[12+binary.BigEndian.Uint32(rest[8:]):] {
								batches, records = batches+1, records+int64(binary.BigEndian.Uint32(rest[57:]))
							}
						}
					}
					return nil, nil, false
				})
				got := l.invoke(t, "run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--out", t.TempDir(),
					"--set", "load={rate: max, records: 200, linger: 20ms}", "--set", "phases.warmup=0s", "--set", set)
				if got.code != exitValid || records < 200 || batches != records {
					t.Errorf("exit code %d, %d records in %d batches, want at least 200 in as many\n%s", got.code, records, batches, got.stderr)
				}
			})
		})
	}
}

func TestBatchesOfOneRecordRefused(t *testing.T) {
	got := invoke(t, "run", "quick", "--dry-run", "--cluster", "embedded", "--set", "load.batch=0", "--set", "load.record.size=100B")
	want := "scenario quick: load.batch asks for batches of one record, which the driver franz does not have (franz-go bounds a batch in bytes only, and takes no bound below 512); give a size, as in 64KiB, or records of one size from 256B, or choose another driver: sarama or segmentio"
	if got.code != exitBadInput || !strings.HasPrefix(got.message(), want) {
		t.Errorf("exit code %d and\n%s, want\n%s", got.code, got.message(), want)
	}
}
