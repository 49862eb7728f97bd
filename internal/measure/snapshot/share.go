package snapshot

import (
	"cmp"
	"slices"
)

// Share is the records of one producer or consumer since the measured window began; see result.Share.
type Share struct {
	Number          int
	Records, Bytes  int64
	FirstNs, LastNs int64 // undefined without records
}

// Add adds records and their bytes; fromNs is the time of the first record, toNs that of the last.
func (s *Share) Add(records, bytes, fromNs, toNs int64) {
	s.merge(Share{Records: records, Bytes: bytes, FirstNs: fromNs, LastNs: toNs})
}

func (s *Share) merge(o Share) {
	switch {
	case o.Records == 0:
		return
	case s.Records == 0:
		s.FirstNs, s.LastNs = o.FirstNs, o.LastNs
	default:
		s.FirstNs, s.LastNs = min(s.FirstNs, o.FirstNs), max(s.LastNs, o.LastNs)
	}
	s.Records += o.Records
	s.Bytes += o.Bytes
}

func mergeShares(all, others []Share) []Share {
	merged := slices.Clone(all)
	for _, o := range others {
		i, known := slices.BinarySearchFunc(merged, o.Number, func(s Share, n int) int { return cmp.Compare(s.Number, n) })
		if known {
			merged[i].merge(o)
		} else {
			merged = slices.Insert(merged, i, o)
		}
	}
	return merged
}
