package bottleneck

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/result"
)

// run is a closed loop of ten seconds on two cores, with low use of each resource.
func run(change func(*result.Run)) *result.Run {
	r := &result.Run{
		Run: result.Info{
			FinishedAt: time.Unix(1, 0), Host: result.Host{CPUs: 2}, Cluster: result.Cluster{Kind: "kafka"},
			Phases: []result.Phase{{Name: "measure", EndNs: 10e9}},
		},
		Load:    result.Load{ClosedLoop: true, OfferedPerS: 1000, Scheduled: 10_000, Admitted: 10_000, Acked: 10_000, AckedPerS: 1000},
		Process: result.Process{CPUCores: new(0.2), HostCPUBusy: new(0.4)},
		Broker: []result.Broker{{ID: 1, CPUCores: new(0.3), Metrics: &result.BrokerMetrics{
			HandlerIdleRatio: new(0.95), NetworkIdleRatio: new(0.97), NetworkIdleRatioMin: new(0.9),
			Requests: []result.RequestUse{
				{Type: "Produce", Count: 1000, TotalMs: new(4.0), QueueMs: new(0.5), LocalMs: new(0.5), RemoteMs: new(3.0), ThrottleMs: new(0.0)},
				{Type: "OffsetCommit", Count: 10, TotalMs: new(2.0)},
			},
		}}},
		Clients: &result.Clients{
			Produce: &result.ClientRequests{Count: 1000, InFlightMean: 0.5, Connections: 1, MeanMs: new(5.0), BytesPerBatch: new(1000.0)},
			Fetch:   &result.ClientRequests{Count: 1000, InFlightMean: 0.5, Connections: 1, MeanMs: new(5.0), BytesPerRequest: new(1000.0)},
		},
		Time: map[string]result.Time{"send_service_time": {MeanNs: 10e6}},
	}
	change(r)
	return r
}

var settings = Settings{
	ClientCores: 2, InFlight: 5, BatchBytes: 64 << 10, LingerNs: 5e6, MaxBuffered: 100_000,
	Partitions: 6, FetchMinBytes: 1, FetchMaxBytes: 50 << 20, FetchMaxPartitionBytes: 1 << 20, FetchMaxWaitNs: 500e6,
}

func held(r *result.Run) {
	r.Broker[0].CPUWaitRatio = new(0.15)
	r.Broker[0].Metrics.Requests[0].PerS, r.Broker[0].Metrics.Requests[0].LocalMs = 100, new(45.5)
}

func openLoop(r *result.Run) { r.Load.ClosedLoop = false }

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*result.Run)
		set      func(*Settings)
		want     string
		evidence string
	}{
		"idle closed loop": {func(*result.Run) {}, nil, NotKnown, "the fullest was linger"},
		"idle open loop":   {openLoop, nil, OfferedLoad, "all of the 1,000/s"},
		"open loop that falls short": {func(r *result.Run) {
			openLoop(r)
			r.Load.AckedPerS = 900
		}, nil, NotKnown, "nothing"},
		"client": {func(r *result.Run) { r.Process.CPUCores = new(1.94) }, nil, ClientCPU, "97 % of 2 cores"},
		"clients of agents": {func(r *result.Run) {
			r.Process.CPUCores, r.Agents = new(7.8), []result.Agent{{}, {}}
		}, nil, NotKnown, "the fullest was linger"},
		"client, embedded": {func(r *result.Run) {
			r.Process.CPUCores, r.Run.Cluster.Kind = new(1.94), "embedded"
		}, nil, ClientCPU, "embedded broker"},
		"machine": {func(r *result.Run) {
			r.Process.CPUCores, r.Broker[0].CPUCores, r.Process.HostCPUBusy = new(0.9), new(0.9), new(0.95)
		}, nil, HostCPU, "95 % of 2 cores: 0.90 kafka-bench, 0.90 brokers, 0.10 others"},
		"machine of others, all got through": {func(r *result.Run) {
			openLoop(r)
			r.Process.HostCPUBusy = new(0.99)
		}, nil, OfferedLoad, "the fullest was host CPU: 99 %"},
		"machine of others, closed loop": {func(r *result.Run) { r.Process.HostCPUBusy = new(0.99) }, nil, HostCPU, "1.48 others"},
		"machine of others, and a limit": {func(r *result.Run) {
			r.Process.HostCPUBusy, r.Clients.Produce.InFlightMean = new(0.99), 4.5
		}, nil, HostCPU, "1.48 others"},
		"machine of others, for which a broker waited": {func(r *result.Run) {
			r.Process.HostCPUBusy, r.Process.CPUWaitRatio, r.Broker[0].CPUWaitRatio = new(0.99), new(0.05), new(0.6)
			r.Clients.Produce.InFlightMean = 5
		}, nil, HostCPU, "1.48 others; of the time in which they could run they waited for a core: kafka-bench 5 %, broker 1 60 %"},
		"machine of others, for which nobody waited": {func(r *result.Run) {
			r.Process.HostCPUBusy, r.Process.CPUWaitRatio, r.Broker[0].CPUWaitRatio = new(0.99), new(0.05), new(0.1)
			r.Clients.Produce.InFlightMean = 5
		}, nil, InFlight, "5 produce requests"},
		"machine of others, for which nobody waited, and nothing else": {func(r *result.Run) {
			r.Process.HostCPUBusy, r.Process.CPUWaitRatio, r.Broker[0].CPUWaitRatio = new(0.99), new(0.05), new(0.1)
		}, nil, NotKnown, "the fullest was host CPU: 99 %"},
		"machine of other machines": {func(r *result.Run) {
			r.Process.HostCPUBusy, r.Process.HostCPUStolen, r.Process.CPUWaitRatio = new(0.3), new(0.6), new(0.05)
			r.Clients.Produce.InFlightMean = 5
		}, nil, HostCPU, "90 % of 2 cores, 60 % of it stolen"},
		"machine of others, and a quota": {func(r *result.Run) {
			r.Process.HostCPUBusy, r.Broker[0].Metrics.Requests[0].ThrottleMs = new(0.99), new(96.0)
		}, nil, Quota, "held Produce requests back"},
		"machine of others, and handlers that are slow": {func(r *result.Run) {
			r.Process.HostCPUBusy, r.Broker[0].Metrics.HandlerIdleRatio = new(0.99), new(0.1)
		}, nil, HostCPU, "1.48 others"},
		"an invalid run": {func(r *result.Run) {
			r.Verdict.Status, r.Clients.Produce.InFlightMean = result.Invalid, 5
		}, nil, NotKnown, "the run is invalid, and what its figures name is not to be relied on; the fullest was in-flight limit"},
		"waits on a machine that has room": {func(r *result.Run) {
			r.Broker[0].CPUWaitRatio, r.Clients.Produce.InFlightMean = new(0.9), 5
		}, nil, InFlight, "5 produce requests"},
		"machine of others, and a full buffer": {func(r *result.Run) { r.Process.HostCPUBusy = new(0.99) },
			func(s *Settings) { s.MaxBuffered = 10 }, HostCPU, "1.48 others"},
		"confined broker": {func(r *result.Run) {
			r.Broker[0].CPUCores, r.Broker[0].CoresAllowed = new(0.29), new(0.3)
			r.Clients.Produce.InFlightMean = 5
		}, nil, BrokerCPU, "broker 1 used 96.7 % of the 0.3 cores"},
		"confined consumer": {func(r *result.Run) {
			r.Consumer.Confined = &result.Confined{CPU: 0.25, CPUCoresUsed: new(0.24), ThrottledS: new(3.0)}
		}, nil, ConsumerCPU, "96 % of the 0.25 cores that a consumer's process is allowed, and the system held them back for 3 s"},
		"consumer work": {func(r *result.Run) {
			r.Consumer = result.Consumer{Members: 2, Workers: 2, Utilisation: new(0.98)}
		}, nil, ConsumerWork, "2 workers were busy for 98 %"},
		"fewer partitions than workers": {func(r *result.Run) {
			r.Consumer = result.Consumer{Members: 8, Workers: 8, Utilisation: new(0.24)}
		}, func(s *Settings) { s.Partitions = 2 }, Partitions, "2 partitions for 8 workers, and those that have one were busy for 96 %"},
		"handlers": {func(r *result.Run) {
			r.Broker[0].Metrics.HandlerIdleRatio, r.Broker[0].Metrics.HandlerIdleRatioMin = new(0.04), new(0.01)
		}, nil, RequestHandlers, "broker 1 waited for work in 4 % of the window (1 % at worst)"},
		"network threads": {func(r *result.Run) { r.Broker[0].Metrics.NetworkIdleRatio = new(0.1) }, nil, NetworkThreads, "10 % of the window"},
		"disk": {func(r *result.Run) {
			r.HostUse = &result.HostUse{Disks: []result.DiskUse{{Name: "sda", BusyRatio: new(1.0)}, {Name: "sdb", BusyRatio: new(0.9), HoldsLogs: true}}}
			held(r)
			r.HostUse.IOPressureRatio, r.HostUse.Disks[1].QueueMean, r.HostUse.Disks[1].RequestMeanMs = new(0.95), new(12.0), new(40.0)
		}, nil, Disk, "sdb had requests under way (12 on average, of 40.0 ms each) for 90 % of the window, and wrote 0 B and read 0 B; 4.15 Produce requests waited in the handlers of broker 1"},
		"disk, where the kernel tells no pressure": {func(r *result.Run) {
			r.HostUse = &result.HostUse{Disks: []result.DiskUse{{Name: "sdb", BusyRatio: new(0.9)}}}
			held(r)
		}, nil, Disk, "4.15 Produce requests waited"},
		"disk that writes the page cache back": {func(r *result.Run) {
			r.HostUse = &result.HostUse{Disks: []result.DiskUse{{Name: "sdb", BusyRatio: new(1.0)}}, IOPressureRatio: new(1.0)}
			r.Clients.Produce.InFlightMean = 5
		}, nil, InFlight, "5 produce requests"},
		"disk that nobody waits for, and nothing else": {func(r *result.Run) {
			r.HostUse = &result.HostUse{Disks: []result.DiskUse{{Name: "sdb", BusyRatio: new(1.0)}}}
		}, nil, NotKnown, "that a request to a broker waited for it does not show"},
		"handlers that wait for each other, beside a busy disk": {func(r *result.Run) {
			r.HostUse = &result.HostUse{Disks: []result.DiskUse{{Name: "sdb", BusyRatio: new(1.0)}}, IOPressureRatio: new(0.1)}
			held(r)
		}, nil, NotKnown, "the fullest was disk"},
		"network": {func(r *result.Run) {
			r.HostUse = &result.HostUse{Networks: []result.NetUse{{Name: "lo", SentBytes: 1e12}, {Name: "eth0", SentBytes: 1.2e9, CapacityBytesPerS: new(125e6)}}}
		}, nil, Network, "eth0 carried 96 % of the 125 MB/s"},
		"in flight": {func(r *result.Run) { r.Clients.Produce.InFlightMean = 0.9 }, func(s *Settings) { s.InFlight = 1 }, InFlight,
			"0.9 produce requests were under way on average, of 1 on each of 1 connections; one took 5.00 ms, 3.00 ms of it at the broker waiting for the other replicas"},
		"a capacity comes before a limit": {func(r *result.Run) {
			r.Clients.Produce.InFlightMean, r.Process.CPUCores = 5, new(1.7)
		}, nil, ClientCPU, "85 %"},
		"linger": {func(*result.Run) {}, func(s *Settings) { s.LingerNs = 9e6 }, Linger, "9.00 ms for others (an acknowledgement took 10.0 ms on average)"},
		"linger of an open loop that got through": {openLoop, func(s *Settings) { s.LingerNs = 9e6 }, OfferedLoad, "the fullest was linger"},
		"quota": {func(r *result.Run) { r.Broker[0].Metrics.Requests[0].ThrottleMs = new(96.0) }, nil, Quota, "held Produce requests back for 96.0 ms on average, and took 4.00 ms"},
		"quota that only the clients report": {func(r *result.Run) {
			r.Clients.ReadOverS, r.Clients.Produce.ThrottledS = 10, 9
		}, nil, Quota, "a quota of the brokers throttled the clients' Produce requests for 90 % of their connections' time"},
		"fetch size": {func(r *result.Run) {
			r.Clients.Fetch.InFlightMean, r.Clients.Fetch.BytesPerRequest = 0.9, new(6100.0)
		}, func(s *Settings) { s.FetchMaxPartitionBytes = 1 << 10 }, FetchSize, "6.10 kB of at most 6.14 kB, and one was under way for 90 %"},
		"fetch wait": {func(r *result.Run) {
			r.Consumer.Members, r.Load.Scheduled = 1, 0
			r.Clients.Fetch.MeanMs = new(480.0)
		}, func(s *Settings) { s.FetchMinBytes = 1 << 20 }, FetchWait, "480 ms on average, and may wait up to 500 ms"},
		"commits": {func(r *result.Run) {
			r.Consumer = result.Consumer{Members: 1, Workers: 6, Commits: 22_500, CommitMeanMs: new(0.4)}
		},
			func(s *Settings) { s.CommitsEachBatch = true }, Commits, "22,500 commits of 400 µs each are 90 %"},
		"commits of a member with several workers": {func(r *result.Run) {
			r.Consumer = result.Consumer{Members: 1, Workers: 6, Commits: 22_500, CommitMeanMs: new(0.4), Utilisation: new(0.2)}
		}, func(s *Settings) { s.CommitsEachBatch = true }, NotKnown, ""},
		"gate":     {func(r *result.Run) { r.Backpressure = &result.Backpressure{ClosedS: 9} }, nil, Gate, "90 % of the window"},
		"buffered": {func(*result.Run) {}, func(s *Settings) { s.MaxBuffered = 11 }, RecordsBuffer, "10 records were under way on average, of 11"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings
			if test.set != nil {
				test.set(&s)
			}
			b := Find(run(test.change), s)
			if b == nil || b.Resource != test.want || !strings.Contains(b.Evidence, test.evidence) {
				t.Fatalf("found %+v\nwant %s with %q", b, test.want, test.evidence)
			}
			if named := !slices.Contains([]string{OfferedLoad, NotKnown}, test.want); named && (b.Remedy == "" || b.Saturation < Saturated) {
				t.Errorf("%s has saturation %v and remedy %q", b.Resource, b.Saturation, b.Remedy)
			}
		})
	}
}

func TestNothingToJudge(t *testing.T) {
	if b := Find(run(func(r *result.Run) { r.Run.Phases = nil }), settings); b != nil {
		t.Errorf("a run without a window: %+v", b)
	}
	if b := Find(run(func(r *result.Run) { r.Run.FinishedAt = time.Time{} }), settings); b != nil {
		t.Errorf("a run that did not finish: %+v", b)
	}
	b := Find(run(func(r *result.Run) { *r = result.Run{Run: r.Run, Load: result.Load{ClosedLoop: true}} }), Settings{})
	if b.Resource != NotKnown || len(b.Resources) != 0 {
		t.Errorf("a run without figures: %+v; what is not known is not saturated", b)
	}
}

// Each figure may be missing.
func drawn(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "known") {
			v.Set(reflect.New(v.Type().Elem()))
			drawn(t, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[result.Settings]() {
			return
		}
		for i := range v.NumField() {
			drawn(t, v.Field(i))
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			drawn(t, v.Index(i))
		}
	case reflect.Float64:
		v.SetFloat(rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, -1, 1e18, 100})).Draw(t, "float"))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Int64Range(0, 10), rapid.SampledFrom([]int64{0, -1, 1e6, math.MaxInt32})).Draw(t, "int"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "Produce", "FetchConsumer", "OffsetCommit", "embedded"}).Draw(t, "text"))
	}
}

func anyRun(t *rapid.T) (*result.Run, Settings) {
	r, s := &result.Run{}, Settings{}
	drawn(t, reflect.ValueOf(r).Elem())
	drawn(t, reflect.ValueOf(&s).Elem())
	r.Run.FinishedAt = time.Unix(1, 0)
	r.Run.Phases = []result.Phase{{Name: "measure", EndNs: rapid.Int64Range(1, 1e12).Draw(t, "window")}}
	r.Time = map[string]result.Time{"send_service_time": {MeanNs: rapid.Float64Range(0, 1e9).Draw(t, "service")}}
	for i := range r.Broker { // IDs are unique
		r.Broker[i].ID = int32(i)
	}
	for _, u := range []*result.HostUse{r.HostUse} {
		if u != nil {
			for i := range u.Disks {
				u.Disks[i].Name = string(rune('a' + i))
			}
			for i := range u.Networks {
				u.Networks[i].Name = string(rune('a' + i))
			}
		}
	}
	return r, s
}

// Saturations are sorted and from 0 to 1, and a named resource has evidence.
func TestEveryRunHasAnAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := anyRun(t)
		b := Find(r, s)
		last := 1.0
		for _, found := range b.Resources {
			if !(found.Saturation >= 0 && found.Saturation <= last) || found.Evidence == "" || found.Name == "" {
				t.Fatalf("%+v after %v", found, last)
			}
			last = found.Saturation
		}
		switch b.Resource {
		case OfferedLoad, NotKnown:
		default:
			named := func(f result.Resource) bool {
				return f.Name == b.Resource && f.Saturation == b.Saturation && f.Evidence == b.Evidence
			}
			if b.Saturation < Saturated || !slices.ContainsFunc(b.Resources, named) {
				t.Fatalf("named %+v without evidence", b)
			}
		}
		if b.Evidence == "" {
			t.Fatalf("no evidence: %+v", b)
		}
	})
}

func TestOrderSaysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, s := anyRun(t)
		before := Find(r, s)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffle(rng, r.Broker)
		for _, b := range r.Broker {
			if b.Metrics != nil {
				b.Metrics.Requests = slices.Clone(b.Metrics.Requests)
			}
		}
		if r.HostUse != nil {
			shuffle(rng, r.HostUse.Disks)
			shuffle(rng, r.HostUse.Networks)
		}
		if after := Find(r, s); !reflect.DeepEqual(before, after) {
			t.Fatalf("%+v, and in another order %+v", before, after)
		}
	})
}

func shuffle[T any](rng *rand.Rand, s []T) {
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

// A limit that is full only because of a wait for cores is not named.
func TestConsequencesAreNotNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full, waited := rapid.Float64Range(0, 5).Draw(t, "in flight"), rapid.Float64Range(0, 1).Draw(t, "waited")
		r := run(func(r *result.Run) {
			r.Process.HostCPUBusy, r.Broker[0].CPUWaitRatio, r.Clients.Produce.InFlightMean = new(0.99), new(waited), full
		})
		if b := Find(r, settings); (b.Resource == InFlight) != (full/5*(1-waited) >= Saturated) {
			t.Fatalf("%v of 5 requests in flight, and a broker that waited %v of its time: %+v", full, waited, b)
		}
		r.Verdict.Status = result.Invalid
		if b := Find(r, settings); b.Resource != NotKnown {
			t.Fatalf("an invalid run names %s", b.Resource)
		}
	})
}

func TestMonotone(t *testing.T) {
	saturation := func(r *result.Run, s Settings, name string) float64 {
		for _, f := range Find(r, s).Resources {
			if f.Name == name {
				return f.Saturation
			}
		}
		return 0
	}
	changes := map[string]func(r *result.Run, used float64){
		ClientCPU:       func(r *result.Run, used float64) { r.Process.CPUCores = new(2 * used) },
		HostCPU:         func(r *result.Run, used float64) { r.Process.HostCPUBusy = new(used) },
		BrokerCPU:       func(r *result.Run, used float64) { r.Broker[0].CPUCores = new(2 * used) },
		RequestHandlers: func(r *result.Run, used float64) { r.Broker[0].Metrics.HandlerIdleRatio = new(1 - used) },
		NetworkThreads:  func(r *result.Run, used float64) { r.Broker[0].Metrics.NetworkIdleRatio = new(1 - used) },
		InFlight:        func(r *result.Run, used float64) { r.Clients.Produce.InFlightMean = 5 * used },
		ConsumerWork: func(r *result.Run, used float64) {
			r.Consumer = result.Consumer{Members: 1, Workers: 1, Utilisation: new(used)}
		},
		Gate: func(r *result.Run, used float64) { r.Backpressure = &result.Backpressure{ClosedS: 10 * used} },
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{ClientCPU, HostCPU, BrokerCPU, RequestHandlers, NetworkThreads, InFlight, ConsumerWork, Gate}).Draw(t, "resource")
		less, more := rapid.Float64Range(0, 1).Draw(t, "less"), rapid.Float64Range(0, 1).Draw(t, "more")
		if less > more {
			less, more = more, less
		}
		low := saturation(run(func(r *result.Run) { changes[name](r, less) }), settings, name)
		high := saturation(run(func(r *result.Run) { changes[name](r, more) }), settings, name)
		if low > high {
			t.Fatalf("%s: %v used is a saturation of %v, and %v used of %v", name, less, low, more, high)
		}
	})
}
