package judge

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// Fill describes the records that the run wrote to its topic before the load.
type Fill struct {
	Outcome result.Fill
	Sent    snapshot.Sent
	Errors  map[string]int64
	Books   SentBooks
}

// In returns how many records of the fill were acknowledged in each of n partitions.
func (f *Fill) In(n int) []int64 {
	in := make([]int64, n)
	for _, b := range f.Books {
		for p := range in {
			in[p] += b.AckedIn(int32(p))
		}
	}
	return in
}

// with adds the fill of another part. The parts fill at the same time, so the whole fill takes as
// long as the slowest part's. Either fill may be nil.
func (f *Fill) with(o *Fill) *Fill {
	switch {
	case o == nil:
		return f
	case f == nil:
		c := *o
		c.Errors, c.Books = maps.Clone(o.Errors), slices.Clone(o.Books)
		c.Outcome.Producers = slices.Clone(o.Outcome.Producers)
		return &c
	}
	a, b := &f.Outcome, o.Outcome
	a.Records, a.Bytes, a.Failed, a.Unknown = a.Records+b.Records, a.Bytes+b.Bytes, a.Failed+b.Failed, a.Unknown+b.Unknown
	a.TimeS = max(a.TimeS, b.TimeS)
	if a.TimeS > 0 {
		a.AckedPerS = float64(a.Records) / a.TimeS
	}
	a.Producers = slices.SortedFunc(slices.Values(slices.Concat(a.Producers, b.Producers)),
		func(a, b result.FillProducer) int { return cmp.Compare(a.Producer, b.Producer) })
	f.Sent.Add(o.Sent)
	f.Errors, f.Books = added(f.Errors, o.Errors), slices.Concat(f.Books, o.Books)
	return f
}

// SentBooks are the books of producers. In JSON, each book has its binary form.
type SentBooks []*ledger.Sender

// MarshalJSON implements json.Marshaler.
func (b SentBooks) MarshalJSON() ([]byte, error) {
	all := make([][]byte, len(b))
	for i, s := range b {
		var err error
		if all[i], err = s.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *SentBooks) UnmarshalJSON(data []byte) error {
	var all [][]byte
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	books := make(SentBooks, len(all))
	for i, bytes := range all {
		books[i] = &ledger.Sender{}
		if err := books[i].UnmarshalBinary(bytes); err != nil {
			return err
		}
	}
	*b = books
	return nil
}
