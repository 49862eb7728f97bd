package remote

import (
	"reflect"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

// TestFurthest: how far two processes have come in a partition together, and when the
// furthest record came for the first time.
func TestFurthest(t *testing.T) {
	nothing := snapshot.Reached{Position: 5, At: snapshot.NeverHanded}
	at := func(position, at, records int64) snapshot.Reached {
		return snapshot.Reached{Position: position, At: at, Delivered: records, Arrived: records}
	}
	for name, c := range map[string]struct{ a, b, want snapshot.Reached }{
		"nobody was handed anything":         {nothing, nothing, nothing},
		"one was":                            {nothing, at(15, 100, 10), at(15, 100, 10)},
		"the other was":                      {at(15, 100, 10), nothing, at(15, 100, 10)},
		"it moved":                           {at(15, 100, 10), at(25, 200, 10), at(25, 200, 20)},
		"it moved back":                      {at(25, 200, 10), at(15, 100, 10), at(25, 200, 20)},
		"the end came twice":                 {at(25, 200, 10), at(25, 300, 20), at(25, 200, 30)},
		"the end came twice, by the other":   {at(25, 300, 20), at(25, 200, 10), at(25, 200, 30)},
		"what came again was not as far yet": {at(25, 200, 10), at(20, 300, 5), at(25, 200, 15)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := furthest(c.a, c.b); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
