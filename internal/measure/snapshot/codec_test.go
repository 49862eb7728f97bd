package snapshot_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/gob"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

type filler struct {
	t    testing.TB
	last int64
}

func (f *filler) fill(v reflect.Value) {
	f.last++
	switch p := v.Addr().Interface().(type) {
	case **ledger.Sender:
		books := ledger.NewSender(int(f.last), 2)
		books.Failed(1, books.Next(1, true))
		*p = traveled(f.t, books, new(ledger.Sender))
		return
	case **ledger.Receiver:
		books := ledger.NewReceiver(int32(f.last), 2)
		books.Deliver(1, 3, true)
		*p = traveled(f.t, books, new(ledger.Receiver))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(f.last - 300)
	case reflect.Uint64:
		v.SetUint(math.MaxUint64 - uint64(f.last))
	case reflect.Uint8:
		v.SetUint(uint64(f.last % 256))
	case reflect.String:
		v.SetString("é" + strconv.FormatInt(f.last, 10))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 3 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				f.t.Fatalf("%v has a field %s that cannot travel", v.Type(), v.Type().Field(i).Name)
			}
			f.fill(v.Field(i))
		}
	default:
		f.t.Fatalf("%v cannot travel", v.Type())
	}
}

func filled(t testing.TB) (s snapshot.Snapshot) {
	(&filler{t: t}).fill(reflect.ValueOf(&s).Elem())
	return s
}

func hollow() snapshot.Snapshot {
	return snapshot.Snapshot{
		Behind: snapshot.Behind{AckedIn: []int64{}, OpenRecords: []int64{}, OldestDueNs: []int64{}},
		Groups: []snapshot.Group{
			{}, {Reached: []snapshot.Reached{}, Shares: []snapshot.Share{}, Queue: &snapshot.Queue{}},
			{Books: map[int32]*ledger.Receiver{}, Reached: []snapshot.Reached{{}, {Awaited: []ledger.Awaited{}}}},
			{Reached: []snapshot.Reached{{Awaited: []ledger.Awaited{{}, {Gaps: []ledger.Gap{}}}}}},
		},
		Gate: &snapshot.Gate{InWindow: &snapshot.Bound{}}, Usage: &snapshot.Usage{}, Pauses: &snapshot.Pauses{},
		Times: latency.Encoded{}, Told: []byte{},
		Last: &snapshot.Last{
			Books: []*ledger.Sender{}, Errors: [2]map[string]int64{{}, nil}, Shares: []snapshot.Share{},
			AckGaps: []snapshot.Gaps{{}, {All: []snapshot.Gap{}}}, DeliveryGaps: [][]snapshot.Gaps{nil, {}},
		},
	}
}

func TestEveryFieldTravels(t *testing.T) {
	for name, s := range map[string]snapshot.Snapshot{
		"filled": filled(t), "hollow": hollow(), "zero": {},
		"no groups": {Groups: []snapshot.Group{}, Last: &snapshot.Last{}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := marshaled(t, s)
			if got := traveled(t, s, new(snapshot.Snapshot)); !reflect.DeepEqual(*got, s) {
				t.Errorf("it became\n%+v\nand was\n%+v", *got, s)
			}
			if again := marshaled(t, s); !bytes.Equal(again, whole) {
				t.Errorf("it is written in two ways: %x and %x", whole, again)
			}
			var pipe bytes.Buffer
			if err := gob.NewEncoder(&pipe).Encode(&s); err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(pipe.Bytes(), whole) {
				t.Error("gob has a form of its own")
			}
			var got snapshot.Snapshot
			if err := gob.NewDecoder(&pipe).Decode(&got); err != nil || !reflect.DeepEqual(got, s) {
				t.Errorf("through gob it became\n%+v, %v", got, err)
			}
		})
	}
}

func section(b []byte, id uint64, body ...byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(bytes.Clone(b), id), uint64(len(body)))
	return append(b, body...)
}

// A reader skips unknown sections.
func TestSections(t *testing.T) {
	s := filled(t)
	whole := marshaled(t, s)
	only := []byte{snapshot.Version}
	for want, b := range map[*snapshot.Snapshot][]byte{&s: section(section(whole, 77, 1, 2, 3), 1<<40), {}: only} {
		var got snapshot.Snapshot
		if err := got.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(got, *want) {
			t.Errorf("read\n%+v, %v, want\n%+v", got, err, *want)
		}
	}
	higher := bytes.Clone(whole)
	higher[0]++
	huge := binary.AppendUvarint(nil, 1<<40)
	for name, b := range map[string][]byte{
		"nothing": {}, "a higher version": higher, "a section twice": section(whole, 8, 0), "no id": section(only, 0),
		"a section too long": append(bytes.Clone(only), 77, 1), "a byte too many": section(only, 7, 0, 0),
		"more bytes than there are": section(only, 7, 3, 1), "more groups": section(only, 3, huge...),
		"more books": section(only, 6, append([]byte{1}, huge...)...), "no boolean": section(only, 4, 2),
		"no books":                section(only, 6, 1, 2, 0, 0, 0, 0, 0, 0),
		"more than fits a length": section(only, 7, bytes.Repeat([]byte{255}, 11)...),
		"a key twice":             section(only, 6, 1, 0, 3, 2, 'a', 0, 2, 'a', 0, 0, 0, 0, 0),
	} {
		got := snapshot.Snapshot{Seq: 7}
		if err := got.UnmarshalBinary(b); err == nil || !reflect.DeepEqual(got, snapshot.Snapshot{Seq: 7}) {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	for _, s := range []snapshot.Snapshot{
		{Last: &snapshot.Last{Books: []*ledger.Sender{nil}}},
		{Groups: []snapshot.Group{{Books: map[int32]*ledger.Receiver{1: nil}}}},
	} {
		if b, err := s.MarshalBinary(); err == nil {
			t.Errorf("books that are nil are %x", b)
		}
	}
}

// Decoding takes memory proportional to the input.
func FuzzUnmarshalBinary(f *testing.F) {
	for _, s := range []snapshot.Snapshot{filled(f), hollow(), {}} {
		f.Add(marshaled(f, s))
	}
	f.Add(section(marshaled(f, snapshot.Snapshot{}), 77, 1))
	f.Add(section([]byte{snapshot.Version}, 3, 128, 128, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var s snapshot.Snapshot
		err := s.UnmarshalBinary(b)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20+100*uint64(len(b)) {
			t.Fatalf("%d bytes took %d of memory", len(b), took)
		}
		if err != nil {
			return
		}
		if again := traveled(t, s, new(snapshot.Snapshot)); !reflect.DeepEqual(*again, s) {
			t.Fatalf("read\n%+v\nand again\n%+v", s, *again)
		}
	})
}

func travelling(values int) snapshot.Snapshot {
	const partitions, producers = 64, 16
	metrics := []latency.Metric{0, 1, 2, 3, 4, 5, 6, 7}
	random, recorder := rand.New(rand.NewPCG(1, 2)), latency.NewRecorder(metrics...)
	for _, m := range metrics {
		for range values {
			recorder.Record(true, m, int64(2e6*math.Exp(random.NormFloat64())))
		}
	}
	var collector latency.Collector
	collector.Add(recorder)
	s := snapshot.Snapshot{Behind: snapshot.NewBehind(make([]int64, partitions)), Last: &snapshot.Last{}}
	s.Times = collector.Collect().Encode()
	group := snapshot.Group{Arrived: true, Reached: make([]snapshot.Reached, partitions)}
	receivers := make([]*ledger.Receiver, partitions)
	for p := range receivers {
		receivers[p] = ledger.NewReceiver(int32(p), producers)
	}
	for producer := range producers {
		books := ledger.NewSender(producer, partitions)
		for i := range int32(values) {
			p := i % partitions
			sequence := books.Next(p, true)
			books.Acked(p, sequence, int64(i))
			receivers[p].Deliver(producer, sequence, true)
		}
		s.Last.Books = append(s.Last.Books, books)
	}
	for p, r := range receivers {
		group.Reached[p] = snapshot.Reached{Position: r.Arrived(), At: 6e10, Arrived: r.Arrived(), Awaited: r.Expected()}
	}
	group.Books = snapshot.BooksOf(receivers)
	s.Groups = []snapshot.Group{group}
	return s
}

func BenchmarkTravel(b *testing.B) {
	s := travelling(10_000)
	whole := marshaled(b, s)
	var deflated bytes.Buffer
	w, err := flate.NewWriter(&deflated, flate.DefaultCompression)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = w.Write(whole)
	_ = w.Close()
	b.ReportAllocs()
	for b.Loop() {
		traveled(b, s, new(snapshot.Snapshot))
	}
	b.ReportMetric(float64(len(whole)), "encoded-B")
	b.ReportMetric(float64(deflated.Len()), "deflated-B")
	b.ReportMetric(float64(len(s.Times)), "times-B")
}
