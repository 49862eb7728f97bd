package promrun

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"kafkabench.example/kafka-bench/internal/measure/latency"
)

const books = 2

var bookNames = [books]string{"warmup", "measured"}

var timeHelp = [latency.NumMetrics]string{
	latency.PacerLateness:          "How late the pacer woke.",
	latency.SendDelay:              "Time from the intended to the actual send time.",
	latency.SendServiceTime:        "Time from the actual send time to the acknowledgement.",
	latency.SendResponseTime:       "Time from the intended send time to the acknowledgement.",
	latency.E2EServiceTime:         "Time from the actual send time to the delivery.",
	latency.E2EResponseTime:        "Time from the intended send time to the delivery.",
	latency.ProcessedResponseTime:  "Time from the intended send time to the end of the simulated work.",
	latency.SettleTime:             "Time from a delivery by a queue to its acknowledgement.",
	latency.RedeliveryResponseTime: "Time from the intended send time to a delivery after the first.",
	latency.RedeliveryLateness:     "Time from when a delivery after the first was due to that delivery.",
	latency.PollTime:               "Length of a poll that returned records.",
	latency.UnackedServiceTime:     "Time from the actual send time to the report that a record was not acknowledged.",
	latency.UnackedResponseTime:    "Time from the intended send time to the report that a record was not acknowledged.",
}

type timeKey struct {
	book   int
	metric latency.Metric
}

var tags = func() map[string]timeKey {
	all := make(map[string]timeKey)
	for book := range books {
		for m := range latency.Metric(latency.NumMetrics) {
			all[latency.Tag(book == 1, m)] = timeKey{book, m}
		}
	}
	return all
}()

// addTime ignores an unknown tag, which a later version may write.
func (r *run) addTime(entry latency.LogEntry) {
	key, known := tags[entry.Tag]
	if !known {
		return
	}
	sum := &r.times[key.book][key.metric]
	if *sum == nil {
		*sum = latency.NewHistogram()
	}
	(*sum).Merge(entry.Histogram)
}

// A bucket of a native histogram is 2^(1/2^schema) wide, here 9 %.
const nativeSchema = 3

const perDoubling = 1 << nativeSchema

// bounds are in nanoseconds: 1, 1.5, 2, 3, 5, 7 × 10^k from 10 µs to an hour, the highest value of
// a run's histograms.
var bounds = func() (all []int64) {
	for decade := int64(time.Microsecond); ; decade *= 10 {
		for _, times := range []int64{10, 15, 20, 30, 50, 70} {
			bound := decade * times
			if bound >= latency.HighestNs {
				return append(all, latency.HighestNs)
			}
			all = append(all, bound)
		}
	}
}()

// timeMetric also has classic buckets, for a Prometheus without native histograms.
type timeMetric struct {
	prometheus.Metric
	buckets []*dto.Bucket
}

// Write implements [prometheus.Metric].
func (t timeMetric) Write(m *dto.Metric) error {
	if err := t.Metric.Write(m); err != nil {
		return err
	}
	m.Histogram.Bucket = t.buckets
	return nil
}

// time counts all values of a histogram's slot at the slot's highest value, as percentiles do. The
// sum uses the slot's middle, as means do.
func (s sender) time(desc *prometheus.Desc, h *latency.Histogram, began time.Time, book string) {
	native := make(map[int]int64)
	classic := make([]*dto.Bucket, 0, len(bounds))
	var zero, below uint64
	var sum float64
	upTo := func(ns int64) { // closes the classic buckets that end before a value
		for len(classic) < len(bounds) && bounds[len(classic)] < ns {
			bound := float64(bounds[len(classic)]) / 1e9
			classic = append(classic, &dto.Bucket{CumulativeCount: new(below), UpperBound: new(bound)})
		}
	}
	for slot := range h.Slots() {
		upTo(slot.HighestNs)
		below += uint64(slot.Count)
		sum += float64(slot.MiddleNs) * float64(slot.Count)
		if slot.HighestNs == 0 {
			zero += uint64(slot.Count)
		} else {
			native[nativeBucket(slot.HighestNs)] += slot.Count
		}
	}
	upTo(math.MaxInt64)
	metric, err := prometheus.NewConstNativeHistogram(desc, uint64(h.Count()), sum/1e9, native, nil, zero, nativeSchema,
		prometheus.DefNativeHistogramZeroThreshold, began, s.run.Run.ID, s.run.Run.Name, book)
	if err != nil {
		s.metrics <- prometheus.NewInvalidMetric(desc, err)
		return
	}
	s.metrics <- timeMetric{Metric: metric, buckets: classic}
}

// nativeBucket is the bucket of a positive time. Bucket 0 ends at a second.
func nativeBucket(ns int64) int {
	return int(math.Ceil(perDoubling * math.Log2(float64(ns)/1e9)))
}
