package reread

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/project/virtual"
)

func offsets(wanted []int64, found []*kgo.Record) (records, missing []int64) {
	for i, r := range found {
		if r == nil {
			missing = append(missing, wanted[i])
		} else if r.Offset == wanted[i] {
			records = append(records, r.Offset)
		}
	}
	return records, missing
}

// The reader returns the records at the wanted offsets and no others, reports which are missing, and
// waits for what may still come.
func TestReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{})
		c.Topic(t, "t", 1)
		client := c.NewClient(t)
		for i := range 3000 {
			client.Produce(t.Context(), &kgo.Record{Topic: "t", Value: fmt.Append(nil, i)}, nil)
		}
		if err := client.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Delete(t, "t", 0, 5)
		r := &Reader{Client: client, Topic: "t"}
		var got, missing []int64
		rest := []int64{0, 2, 3, 4, 5, 6, 7, 9, 500, 1500, 1501, 2998, 2999, 3000, 3001}
		for {
			found, err := r.Read(t.Context(), 0, rest)
			records, gone := offsets(rest, found)
			got, missing, rest = append(got, records...), append(missing, gone...), rest[len(found):]
			if errors.Is(err, ErrBehind) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, []int64{5, 6, 7, 9, 500, 1500, 1501, 2998, 2999}) || !slices.Equal(missing, []int64{0, 2, 3, 4}) {
			t.Errorf("got %v, missing %v", got, missing)
		}
		if len(rest) != 2 {
			t.Errorf("left: %v", rest)
		}
	})
}

// Invariant 6: a record stands only for its own offset. A record for which compaction or a transaction has left a gap is
// missing.
func TestARecordIsTheOneAskedFor(t *testing.T) {
	var records []*kgo.Record
	for _, o := range []int64{0, 1, 3, 5, 6, 8} {
		records = append(records, &kgo.Record{Offset: o})
	}
	wanted := []int64{1, 2, 3, 6, 7, 8, 9}
	found := match(records, wanted, 9)
	got, missing := offsets(wanted, found)
	if !slices.Equal(got, []int64{1, 3, 6, 8}) || !slices.Equal(missing, []int64{2, 7}) || len(found) != 6 {
		t.Errorf("got %v, missing %v of the first %d", got, missing, len(found))
	}
}
