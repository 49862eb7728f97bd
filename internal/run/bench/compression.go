package bench

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	maxSampleBatches = 32
	maxSampleBytes   = 4 << 20
)

// compression tries the codecs on this machine. sending is the traffic of all producers.
func (r *run) compression(sending snapshot.Traffic) []result.Compression {
	wire := sending.Wire
	if !sending.Counted || wire.Batches == 0 {
		return nil
	}
	l := r.cfg.Scenario.Load
	of := sample{r.corpus, r.keys, r.stamped, l.Record.Header(), runNumber(r.runID)}
	batches := of.batches(max(1, int((wire.BatchRecords+wire.Batches/2)/wire.Batches)))
	codecs, err := r.cfg.Probes.Codecs(batches, l.Compression, l.Level)
	if err != nil {
		r.warnings = append(r.warnings, err.Error())
		return nil
	}
	all := make([]result.Compression, len(codecs))
	for i, c := range codecs {
		all[i] = result.Compression{
			Codec: c.Name, Level: c.Level, Batches: c.Batches, BatchBytes: c.Uncompressed / int64(c.Batches),
			Ratio:             float64(c.Uncompressed) / float64(c.Compressed),
			UncompressedBytes: c.Uncompressed, CompressedBytes: c.Compressed,
			CompressMBPerS:   megabytesPerS(c.Uncompressed, c.CompressS),
			DecompressMBPerS: megabytesPerS(c.Uncompressed, c.DecompressS),
			UsedByThisRun:    c.Name == l.Compression,
		}
	}
	return all
}

func megabytesPerS(bytes int64, seconds float64) float64 {
	if seconds == 0 {
		return 0
	}
	return float64(bytes) / 1e6 / seconds
}

type sample struct {
	corpus  *payload.Corpus
	keys    *payload.Keys
	stamped bool
	header  bool
	run     uint32
}

func (s sample) batches(records int) [][]byte {
	n := min(maxSampleBatches, max(1, maxSampleBytes/(records*int(s.corpus.MeanBytes()))))
	batches := make([][]byte, n)
	for i := range batches {
		batches[i] = probe.EncodeBatch(i*records, records, s.record)
	}
	return batches
}

func (s sample) record(i int) kmsg.Record {
	at, r := uint64(i), kmsg.Record{Key: s.keys.Key(uint64(i))}
	if !s.stamped {
		r.Value = s.corpus.Value(nil, at, nil)
		return r
	}
	stamp := payload.Stamp{Run: s.run, Sequence: at, Intended: int64(i) * 1000, Actual: int64(i)*1000 + 137}
	r.Value = s.corpus.Value(nil, at, &stamp)
	if s.header {
		var header payload.Header
		s.corpus.PutHeader(&header, at, &stamp)
		r.Headers = []kmsg.Header{{Key: payload.HeaderName, Value: header[:]}}
	}
	return r
}
