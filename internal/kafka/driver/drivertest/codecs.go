package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func codecTests() (tests []test) {
	levels := map[string][]int{"none": {0}, "gzip": {0, 9}, "snappy": {0}, "lz4": {0, 9}, "zstd": {0, 3, 19}}
	for codec, levels := range levels {
		for _, level := range levels {
			c := test{name: fmt.Sprintf("%s %d", codec, level), zstd: codec == "zstd"}
			c.run = func(t *testing.T, s suite) { testCodec(t, s, codec, level) }
			if level != 0 {
				c.needs = append(c.needs, driver.CompressionLevels)
			}
			tests = append(tests, c)
		}
	}
	return tests
}

func testCodec(t *testing.T, s suite, codec string, level int) {
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Compression, cfg.Level = codec, level
	p, err := s.driver.NewProducer(cfg)
	if level != 0 && codec != "gzip" && errors.Is(err, driver.ErrConfig) {
		t.Logf("the driver does without: %v", err) // a client may support levels for only some codecs
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	records := awkward()
	for _, r := range records {
		p.Produce(r)
	}
	out.await(t, len(records))
	got := s.readAll(t, topic, len(records))[0]
	for i, r := range records {
		checkAcked(t, i, out.of(r))
		if !bytes.Equal(got[i].Key, r.Key) || !bytes.Equal(got[i].Value, r.Value) {
			t.Fatalf("record %d came back with another key or value (%d and %d bytes, sent %d and %d)",
				i, len(got[i].Key), len(got[i].Value), len(r.Key), len(r.Value))
		}
	}
}

func awkward() []*driver.Record {
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 100_000)
	random.Read(noise)
	return []*driver.Record{
		{Value: []byte("no key")},
		{Key: []byte("no value")},
		{Key: []byte{0}, Value: []byte{0, 0xff, 0}},
		{Key: []byte("text"), Value: bytes.Repeat([]byte("kafka "), 20_000)},
		{Key: []byte("zeros"), Value: make([]byte, 100_000)},
		{Key: []byte("noise"), Value: noise},
	}
}
