package truth

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

// quotient recomputes a rate. at is the struct that has the rate. within is the share by which the two may differ,
// because the counts were read at other moments.
type quotient func(r *result.Recorded, at any) (want, within float64, known bool)

// rates are the fields of run.json whose names end in per_s. A rate that run.json cannot explain is nil: it comes from
// the brokers, the operating system or a calibration, without its counts.
var rates = map[string]quotient{
	"load.offered_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		return perWindow(r, at.(result.Load).Scheduled), 0, true
	},
	"load.acked_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		if n := at.(result.Load).AckedInWindow; n != nil {
			return perWindow(r, *n), 0, true
		}
		return inIntervals(r, "measure", func(i result.Interval) int64 { return i.Acked })
	},
	"warmup.load.offered_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		n := at.(result.Load).Scheduled
		if f := r.Run.Fill; f != nil && readsFill(r) {
			n -= f.Records + f.Failed + f.Unknown
		}
		return perWarmup(r, n), 0, true
	},
	"warmup.load.acked_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		n := at.(result.Load).Acked
		if f := r.Run.Fill; f != nil && readsFill(r) {
			n -= f.Records
		}
		return perWarmup(r, n), 0, true
	},
	"delivery.delivered_per_s":           uniqueInWindow,
	"delivery.duplicates_per_s":          duplicatesInWindow,
	"groups[].delivery.delivered_per_s":  uniqueInWindow,
	"groups[].delivery.duplicates_per_s": duplicatesInWindow,
	"warmup.delivery.delivered_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		if n := at.(result.WarmupDelivery).UniqueInPhase; n != nil {
			return perWarmup(r, *n), 0, true
		}
		return inIntervals(r, "warm-up", firsts)
	},
	"warmup.delivery.duplicates_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		if n := at.(result.Delivery).DuplicatesInPhase; n != nil {
			return perWarmup(r, *n), 0, true
		}
		return inIntervals(r, "warm-up", func(i result.Interval) int64 { return i.Duplicates })
	},
	"lag.backlog_growth_per_s":       func(r *result.Recorded, _ any) (float64, float64, bool) { return growth(r, false) },
	"lag.backlog_growth_error_per_s": func(r *result.Recorded, _ any) (float64, float64, bool) { return growth(r, true) },
	"lag.drain_per_s":                drainRate,
	"lag.changes[].offered_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		return afterChange(r, at.(result.Change), func(i result.Interval) int64 { return i.Scheduled })
	},
	"lag.changes[].delivered_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		return afterChange(r, at.(result.Change), firsts)
	},
	"consumer.capacity_per_s":          capacity,
	"groups[].consumer.capacity_per_s": capacity,
	"queue.acked_per_s": func(r *result.Recorded, _ any) (float64, float64, bool) {
		return inIntervals(r, "measure", func(i result.Interval) int64 {
			if i.AckedByQueue == nil {
				return 0
			}
			return *i.AckedByQueue
		})
	},
	"fill.acked_per_s": func(_ *result.Recorded, at any) (float64, float64, bool) {
		f := at.(result.Fill)
		return float64(f.Records) / f.TimeS, 0, f.TimeS > 0
	},
	"fill.producers[].acked_per_s": func(_ *result.Recorded, at any) (float64, float64, bool) {
		f := at.(result.FillProducer)
		return float64(f.Records) / f.TimeS, 0, f.TimeS > 0
	},
	"clients.produce.per_s": requestRate, "clients.fetch.per_s": requestRate,
	"broker[].metrics.requests[].per_s": brokerRate,
	"host_use.disks[].yardstick_bytes_per_s": func(r *result.Recorded, at any) (float64, float64, bool) {
		d := at.(result.DiskUse)
		if d.YardstickRatio == nil || d.WrittenBytes == 0 {
			return 0, 0, false
		}
		return perWindow(r, d.WrittenBytes) / *d.YardstickRatio, 0.02, true
	},
	"host_use.networks[].capacity_bytes_per_s": nil,
	"broker[].metrics.bytes_in_per_s":          nil, "broker[].metrics.bytes_out_per_s": nil,
	"compression[].compress_mb_per_s": nil, "compression[].decompress_mb_per_s": nil,

	"availability.before.acked_per_s": ackedInStretch, "availability.before.delivered_per_s": deliveredInStretch,
	"availability.during.acked_per_s": ackedInStretch, "availability.during.delivered_per_s": deliveredInStretch,
	"availability.after.acked_per_s": ackedInStretch, "availability.after.delivered_per_s": deliveredInStretch,
}

func phase(r *result.Recorded, name string) result.Phase {
	if i := slices.IndexFunc(r.Run.Run.Phases, func(p result.Phase) bool { return p.Name == name }); i >= 0 {
		return r.Run.Run.Phases[i]
	}
	return result.Phase{}
}

func over(n int64, p result.Phase) float64 {
	if p.EndNs <= p.StartNs {
		return 0
	}
	return float64(n) / time.Duration(p.EndNs-p.StartNs).Seconds()
}

func perWindow(r *result.Recorded, n int64) float64 { return over(n, phase(r, "measure")) }

func perWarmup(r *result.Recorded, n int64) float64 { return over(n, phase(r, "warm-up")) }

func readsFill(r *result.Recorded) bool {
	return r.Run.Consumer.Members > 0 &&
		(r.Run.Scenario.Get("load.producers") == "0" || r.Run.Scenario.Get("consume.from") == "start")
}

func firsts(i result.Interval) int64 { return i.Delivered - i.Duplicates }

// inIntervals is unknown without intervals of the whole phase. The first and the last reading may be milliseconds late.
func inIntervals(r *result.Recorded, name string, count func(result.Interval) int64) (float64, float64, bool) {
	p, sum := phase(r, name), int64(0)
	at := p.StartNs
	for _, i := range r.Intervals {
		if i.StartNs == at && i.EndNs <= p.EndNs {
			sum, at = sum+count(i), i.EndNs
		}
	}
	return over(sum, p), 0.02, at == p.EndNs && at > p.StartNs
}

func uniqueInWindow(r *result.Recorded, at any) (float64, float64, bool) {
	switch n := at.(result.Delivery).UniqueInPhase; {
	case n != nil:
		return perWindow(r, *n), 0, true
	case r.Run.Method() == 1:
		return 0, 0, false
	}
	return inIntervals(r, "measure", firsts)
}

func duplicatesInWindow(r *result.Recorded, at any) (float64, float64, bool) {
	if n := at.(result.Delivery).DuplicatesInPhase; n != nil {
		return perWindow(r, *n), 0, true
	}
	return inIntervals(r, "measure", func(i result.Interval) int64 { return i.Duplicates })
}

// drainRate is known if all records were delivered, and the run counted those before and in the window.
func drainRate(r *result.Recorded, at any) (float64, float64, bool) {
	l, d, w := at.(result.Lag), r.Run.Delivery, r.Run.Warmup.Delivery
	if d.UniqueInPhase == nil || w.UniqueInPhase == nil || !l.Drained || !d.Checked || l.DrainTimeS == 0 {
		return 0, 0, false
	}
	all := d.Unique + w.Unique
	if readsFill(r) && r.Run.Load.Scheduled == 0 {
		all = d.Unique // both blocks have the book of the fill
	}
	return float64(all-*d.UniqueInPhase-*w.UniqueInPhase) / l.DrainTimeS, 0, true
}

func growth(r *result.Recorded, ofError bool) (float64, float64, bool) {
	var xs, ys []float64
	for _, i := range r.Intervals {
		if i.EndNs >= 0 && i.EndNs <= phase(r, "measure").EndNs {
			at := i.EndNs
			if i.ReadToNs > 0 {
				at = i.ReadToNs
			}
			xs, ys = append(xs, float64(at)/1e9), append(ys, float64(i.BacklogRecords))
		}
	}
	n := float64(len(xs))
	if n < 3 || r.Run.Method() == 1 {
		return 0, 0, false
	}
	var sx, sy float64
	for i := range xs {
		sx, sy = sx+xs[i], sy+ys[i]
	}
	var sxx, sxy, left float64
	for i := range xs {
		sxx, sxy = sxx+(xs[i]-sx/n)*(xs[i]-sx/n), sxy+(xs[i]-sx/n)*(ys[i]-sy/n)
	}
	slope := sxy / sxx
	for i := range xs {
		off := ys[i] - sy/n - slope*(xs[i]-sx/n)
		left += off * off
	}
	if ofError {
		return math.Sqrt(left / (n - 2) / sxx), 0.001, true
	}
	return slope, 0.001, true
}

// afterChange divides the intervals that the time from a change to the end of its backlog only partly covers.
func afterChange(r *result.Recorded, c result.Change, count func(result.Interval) int64) (float64, float64, bool) {
	if c.DrainedAtNs == nil || len(r.Run.Groups) > 0 || len(r.Intervals) == 0 || *c.DrainedAtNs-c.AtNs < 2e9 {
		return 0, 0, false
	}
	sum := 0.0
	for _, i := range r.Intervals {
		if part := min(i.EndNs, *c.DrainedAtNs) - max(i.StartNs, c.AtNs); part > 0 {
			sum += float64(count(i)) * float64(part) / float64(i.EndNs-i.StartNs)
		}
	}
	return sum / time.Duration(*c.DrainedAtNs-c.AtNs).Seconds(), 0.05, true
}

func capacity(r *result.Recorded, at any) (float64, float64, bool) {
	work, err := time.ParseDuration(r.Run.Scenario.Get("consume.work.time"))
	if err != nil || work == 0 {
		work, err = time.ParseDuration(r.Run.Scenario.Get("consume.work"))
	}
	if distribution := r.Run.Scenario.Get("consume.work.distribution"); err != nil || distribution == "lognormal" {
		return 0, 0, false
	}
	jitter, err := time.ParseDuration(r.Run.Scenario.Get("consume.work.jitter"))
	if err != nil {
		jitter = 0
	}
	mean := (work + jitter/2).Seconds()
	return float64(at.(result.Consumer).Workers) / mean, 1e-6, work > 0
}

func requestRate(r *result.Recorded, at any) (float64, float64, bool) {
	return perReading(r, at.(result.ClientRequests).Count, r.Run.Clients.ReadOverS)
}

func brokerRate(r *result.Recorded, at any) (float64, float64, bool) {
	for _, b := range r.Run.Broker {
		if b.Metrics != nil && slices.ContainsFunc(b.Metrics.Requests,
			func(u result.RequestUse) bool { return reflect.DeepEqual(u, at) }) {
			return perReading(r, at.(result.RequestUse).Count, b.Metrics.ReadOverS)
		}
	}
	return 0, 0, false
}

// Older runs do not have the time between the readings, which may differ from the window by a second.
func perReading(r *result.Recorded, n int64, seconds float64) (float64, float64, bool) {
	if seconds > 0 {
		return float64(n) / seconds, 0, true
	}
	window := phase(r, "measure")
	return over(n, window), 1 / time.Duration(window.EndNs).Seconds(), true
}

func ackedInStretch(r *result.Recorded, at any) (float64, float64, bool) {
	return inStretch(r, at.(result.Stretch), func(i result.Interval) int64 { return i.Acked })
}

func deliveredInStretch(r *result.Recorded, at any) (float64, float64, bool) {
	return inStretch(r, at.(result.Stretch), firsts)
}

func inStretch(r *result.Recorded, s result.Stretch, count func(result.Interval) int64) (float64, float64, bool) {
	sum, length, end := int64(0), 0.0, int64(0)
	for _, i := range r.Intervals {
		if i.StartNs >= s.StartNs && i.StartNs < s.EndNs {
			sum, length, end = sum+count(i), length+i.Seconds(), i.EndNs
		}
	}
	return float64(sum) / length, 1e-6, end >= s.EndNs
}

func isRate(name string) bool { return name == "per_s" || strings.HasSuffix(name, "_per_s") }

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// eachRate visits the rates below v with the structs that have them. A field hides one of an embedded struct.
func eachRate(v reflect.Value, path string, visit func(path string, at any, rate reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachRate(v.Elem(), path, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachRate(v.Index(i), path+"[]", visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch name := fieldName(f); {
			case f.Anonymous:
				eachRate(v.Field(i), path, func(inner string, at any, rate reflect.Value) {
					if !hides(v.Type(), strings.TrimPrefix(inner, path+".")) {
						visit(inner, at, rate)
					}
				})
			case name == "":
			case isRate(name):
				visit(joined(path, name), v.Interface(), v.Field(i))
			default:
				eachRate(v.Field(i), joined(path, name), visit)
			}
		}
	}
}

func hides(t reflect.Type, name string) bool {
	for i := range t.NumField() {
		if f := t.Field(i); !f.Anonymous && fieldName(f) == name {
			return true
		}
	}
	return false
}

func joined(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// ratePaths returns the paths of all rates of a type.
func ratePaths(t reflect.Type, path string, found map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer:
		ratePaths(t.Elem(), path, found)
	case reflect.Slice:
		ratePaths(t.Elem(), path+"[]", found)
	case reflect.Map:
		ratePaths(t.Elem(), path+"{}", found)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			switch name := fieldName(f); {
			case f.Anonymous:
				ratePaths(f.Type, path, found)
			case isRate(name):
				found[joined(path, name)] = true
			case name != "":
				ratePaths(f.Type, joined(path, name), found)
			}
		}
	}
}

func TestEveryRateIsRecomputed(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	ratePaths(reflect.TypeFor[result.Run](), "", found)
	for path := range found {
		if _, known := rates[path]; !known {
			t.Errorf("nothing recomputes %s: add it to rates", path)
		}
	}
	for path := range rates {
		if !found[path] {
			t.Errorf("run.json has no %s", path)
		}
	}
}

// wantRates compares every rate of a run with its counts, and returns those that could be recomputed.
func wantRates(t *testing.T, r *result.Recorded) (seen map[string]bool) {
	t.Helper()
	seen = map[string]bool{}
	eachRate(reflect.ValueOf(r.Run), "", func(path string, at any, rate reflect.Value) {
		of := rates[path]
		if of == nil || rate.Kind() == reflect.Pointer && rate.IsNil() {
			return
		}
		got := reflect.Indirect(rate).Float()
		want, within, known := of(r, at)
		if !known {
			return
		}
		seen[path] = true
		// A reading that is late by a record or two matters only to a low rate.
		if slack := within*math.Abs(want) + 2*within; math.Abs(got-want) > max(slack, 1e-9*math.Abs(want)) {
			t.Errorf("%s: %s is %v, and its counts give %v", r.Dir, path, got, want)
		}
	})
	return seen
}

// wantPhases compares the counts of first deliveries before and in the window with the intervals. A record at the
// boundary may be in either.
func wantPhases(t *testing.T, r *result.Recorded) {
	t.Helper()
	for name, of := range map[string]result.Delivery{"measure": r.Run.Delivery, "warm-up": r.Run.Warmup.Delivery.Delivery} {
		if r.Run.Consumer.Members == 0 {
			break
		}
		if of.UniqueInPhase == nil || of.DuplicatesInPhase == nil {
			t.Errorf("the deliveries of %s are not counted", name)
			continue
		}
		got := over(*of.UniqueInPhase, phase(r, name))
		if want, within, known := inIntervals(r, name, firsts); known && !agree(got, want, within) {
			t.Errorf("first deliveries in %s: %v/s, and %v/s by the intervals", name, got, want)
		}
	}
	if n := r.Run.Load.AckedInWindow; n == nil {
		t.Error("the acks in the window are not counted")
	} else if want, within, known := inIntervals(r, "measure", func(i result.Interval) int64 { return i.Acked }); known &&
		!agree(perWindow(r, *n), want, within) {
		t.Errorf("acks in the window: %v/s, and %v/s by the intervals", perWindow(r, *n), want)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	// No sum of these delays is the length of a warm-up: in a closed loop, thousands of records arrive at one instant,
	// which must not be the boundary of a phase.
	slow := virtual.Options{ProduceDelay: 10001 * time.Microsecond, FetchDelay: 20003 * time.Microsecond}
	overload := []string{"load.rate=2k/s", "consume.work=2ms", "phases.measure=2s"} // the consumer takes 500/s
	for _, c := range []struct {
		name    string
		options virtual.Options
		run     func(*testing.T, *virtual.Cluster) *result.Recorded
		acked   float64 // of the warm-up, each second; 0 stands for any
		want    []string
	}{
		{"open loop", virtual.Options{}, ofSmall("consume.work=200us"), 1000,
			[]string{"consumer.capacity_per_s", "lag.backlog_growth_per_s", "lag.backlog_growth_error_per_s", "clients.produce.per_s"}},
		{"overload", virtual.Options{}, ofSmall(overload...), 2000, []string{"consumer.capacity_per_s", "lag.drain_per_s"}},
		{"closed loop", slow, ofSmall("load.rate=max", "load.in_flight=10", "phases.measure=300ms", "phases.warmup=100ms"), 0, []string{"lag.drain_per_s"}},
		{"without a warm-up", virtual.Options{}, ofSmall("phases.warmup=0s"), 0, nil},
		{"without consumers", virtual.Options{}, ofSmall("consume.consumers=0"), 1000, nil},
		{"several groups", virtual.Options{}, ofSmall("consume.groups=3", "consume.consumers=2"), 1000,
			[]string{"groups[].delivery.delivered_per_s", "groups[].delivery.duplicates_per_s"}},
		{"records without stamps", virtual.Options{}, ofSmall("load.record.size=10B"), 1000, nil},
		{"backpressure", virtual.Options{}, func(t *testing.T, c *virtual.Cluster) *result.Recorded {
			return run(t, config(t, c, pressed(t, "shed")))
		}, 0, nil},
		{"processes", virtual.Options{}, func(t *testing.T, c *virtual.Cluster) *result.Recorded {
			return runApart(t, c, smallScenario(t, "rates", "load.producers=3", "load.processes=3", "topic.partitions=3"), 3)
		}, 1000, nil},
		{"a fill alone", slow, func(t *testing.T, c *virtual.Cluster) *result.Recorded {
			return run(t, config(t, c, filling(t, "rates", "phases.warmup=500ms")))
		}, 0, []string{"fill.acked_per_s", "fill.producers[].acked_per_s", "clients.fetch.per_s"}},
		{"a fill before a load", slow, func(t *testing.T, c *virtual.Cluster) *result.Recorded {
			return run(t, config(t, c, filling(t, "rates", "load.producers=2", "load.rate=2k/s", "phases.measure=1s",
				"phases.warmup=500ms", "consume.from=start")))
		}, 2000, []string{"fill.acked_per_s"}},
		{"a queue", virtual.Options{}, func(t *testing.T, c *virtual.Cluster) *result.Recorded {
			return run(t, config(t, c, ofQueue(t, "rates", "markers", "phases.warmup=500ms")))
		}, 0, []string{"queue.acked_per_s"}},
		{"consumers that catch up", virtual.Options{}, ofSmall("consume.work=2ms", "phases.measure=7s",
			"consume.changes=[{at: 3s, work: 600us}]"), 1000, []string{"lag.changes[].offered_per_s", "lag.changes[].delivered_per_s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			virtual.Test(t, c.options, func(t *testing.T, cluster *virtual.Cluster) {
				r := c.run(t, cluster)
				wantValid(t, r)
				seen := wantRates(t, r)
				wantPhases(t, r)
				always := []string{"load.offered_per_s", "load.acked_per_s", "warmup.load.offered_per_s", "warmup.load.acked_per_s"}
				for _, path := range append(always, c.want...) {
					if !seen[path] {
						t.Errorf("%s could not be recomputed; these could: %v", path, slices.Sorted(maps.Keys(seen)))
					}
				}
				if got := r.Run.Warmup.Load.AckedPerS; c.acked > 0 && got != c.acked {
					t.Errorf("%v/s of the warm-up were acked, want %v/s", got, c.acked)
				}
			})
		})
	}
}

func ofSmall(overrides ...string) func(*testing.T, *virtual.Cluster) *result.Recorded {
	return func(t *testing.T, c *virtual.Cluster) *result.Recorded {
		return run(t, config(t, c, smallScenario(t, "rates", overrides...)))
	}
}

// Each rate of recorded runs, one of each name, follows from its counts, or is null.
func TestRatesOfRecordedRuns(t *testing.T) {
	t.Parallel()
	const results = "../../../results"
	folders, err := os.ReadDir(results)
	if err != nil {
		t.Fatal(err)
	}
	seen, names, runs := map[string]int{}, map[string]bool{}, 0
	for _, folder := range folders {
		dir := filepath.Join(results, folder.Name())
		_, name, _ := strings.Cut(folder.Name(), "-")
		name = name[:max(0, strings.LastIndex(name, "-"))]
		if names[name] {
			continue
		}
		r, err := result.Read(dir)
		if errors.Is(err, result.ErrNotARun) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		names[name] = true
		runs++
		for path := range wantRates(t, r) {
			seen[path]++
		}
		delivered := r.Run.Warmup.Delivery.DeliveredPerS
		if _, _, covered := inIntervals(r, "warm-up", firsts); delivered != nil && !covered {
			t.Errorf("%s: %v/s were delivered in the warm-up, of which there are no intervals", dir, *delivered)
		}
	}
	t.Logf("%d runs; recomputed in so many of them: %v", runs, seen)
	if seen["warmup.load.acked_per_s"] < runs || seen["warmup.delivery.delivered_per_s"] == 0 {
		t.Errorf("of %d runs, the warm-up was recomputed in %d and %d", runs, seen["warmup.load.acked_per_s"],
			seen["warmup.delivery.delivered_per_s"])
	}
}
