package scenario

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func TestSizeBounds(t *testing.T) {
	for _, c := range []struct {
		size              Size
		smallest, largest unit.Size
	}{
		{FixedSize(512), 512, 512},
		{Size{"uniform", []unit.Size{64, 1024}}, 64, 1024},
		{Size{"list", []unit.Size{64, 4096, 48}}, 48, 4096},
		{Size{"normal", []unit.Size{1024, 200}}, 224, 1824},
		{Size{"normal", []unit.Size{1024, 500}}, 1, 3024},
		{Size{}, 0, 0},
	} {
		if smallest, largest := c.size.Bounds(); smallest != c.smallest || largest != c.largest {
			t.Errorf("%v has the bounds %d and %d, want %d and %d", c.size, smallest, largest, c.smallest, c.largest)
		}
	}
}
