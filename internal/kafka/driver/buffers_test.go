package driver_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func TestBuffers(t *testing.T) {
	var buffers driver.Buffers
	b := buffers.Get()
	b.Records = append(b.Records, driver.Received{Value: []byte("value")})
	all := b.Records
	b.Free()
	if all[0].Value != nil || len(b.Records) != 0 {
		t.Errorf("a buffer that was given back holds %v", all)
	}
	again := func() {
		b := buffers.Get()
		b.Records = append(b.Records, driver.Received{Offset: 1})
		b.Free()
	}
	if n := testing.AllocsPerRun(1000, again); n >= 1 {
		t.Errorf("%v allocations each time", n)
	}
}
