package observe

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

func wantJSON(t *testing.T, what string, got any, want string) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil || string(text) != want {
		t.Errorf("%s:\n%s, %v\nwant\n%s", what, text, err, want)
	}
}

// A stale report is no current figure, and usage from before a process's first reading does not
// count.
func TestProcessesBetween(t *testing.T) {
	of := func(name string, pid int, pause time.Duration, heap int64) processUsage {
		return processUsage{name: name, pid: pid, usage: snapshot.Usage{GCPause: pause, HeapBytes: heap, Goroutines: 7}}
	}
	late := of("process 1", 12, 30, 300)
	late.stale = true
	before := []processUsage{of("run", 10, 100, 1000), of("process 0", 11, 10, 200), of("process 1", 12, 20, 300)}
	after := []processUsage{
		of("run", 10, 150, 1100), late, of("process 0", 21, 5, 50),
		{name: "process 2", pid: 13},
	}
	wantJSON(t, "processes", processesBetween(before, after), `[`+
		`{"name":"run","pid":10,"heap_bytes":1100,"gc_pause_ns":50,"goroutines":7},`+
		`{"name":"process 1","pid":12,"heap_bytes":null,"gc_pause_ns":null,"goroutines":null},`+
		`{"name":"process 0","pid":21,"heap_bytes":50,"gc_pause_ns":null,"goroutines":7},`+
		`{"name":"process 2","pid":13,"heap_bytes":null,"gc_pause_ns":null,"goroutines":null}]`)
	if unknown := processesBetween(after[3:], after[3:]); unknown != nil {
		t.Errorf("of processes that tell nothing there is %+v", unknown)
	}
}

func TestUsageOfTheRun(t *testing.T) {
	sum, each, died := (&Machine{}).usageOfEach(nil)
	if len(each) != 1 || died != nil || each[0].pid != os.Getpid() || !each[0].known() || each[0].usage != sum ||
		sum.Goroutines < 1 {
		t.Errorf("the processes are %+v, %v", each, died)
	}
	if _, each, _ := (&Machine{Probes: probe.Unknown()}).usageOfEach(nil); each[0].known() {
		t.Errorf("without probes it is known that %+v", each)
	}
}

func TestBrokersIn(t *testing.T) {
	of := func(id int32, pid int, cpu time.Duration, rss int64, disk ...int64) brokerUsage {
		b := brokerUsage{id: id, pid: pid, Usage: probe.Usage{User: cpu / 2, System: cpu / 2, RSS: rss}}
		if len(disk) > 0 {
			b.DiskRead, b.DiskWritten = &disk[0], &disk[1]
		}
		return b
	}
	before := []brokerUsage{of(1, 101, time.Second, 5, 10, 20), of(2, 102, time.Second, 6), of(3, 103, 0, 7), of(4, 104, 0, 8)}
	after := []brokerUsage{
		of(2, 102, 2*time.Second, 66), of(3, 113, time.Second, 77), of(1, 101, 4*time.Second, 55, 11, 22),
		of(4, 104, time.Second, 0),
	}
	wantJSON(t, "brokers", brokersIn(brokersAt{-1e9, before}, brokersAt{1e9, after}), `[`+
		`{"id":2,"cpu_cores":0.5,"rss_bytes":66,"disk_read_bytes":null,"disk_written_bytes":null},`+
		`{"id":3,"cpu_cores":null,"rss_bytes":77,"disk_read_bytes":null,"disk_written_bytes":null},`+
		`{"id":1,"cpu_cores":1.5,"rss_bytes":55,"disk_read_bytes":1,"disk_written_bytes":2},`+
		`{"id":4,"cpu_cores":0.5,"rss_bytes":null,"disk_read_bytes":null,"disk_written_bytes":null}]`)
}

func TestHostBetween(t *testing.T) {
	cpu := func(busy, stolen, total time.Duration) hostReading {
		return hostReading{host: probe.Host{Busy: busy, Stolen: stolen, Total: total}, hostOK: true}
	}
	before, after := cpu(1, 1, 10), cpu(6, 2, 20)
	cpuOnly := `{"cpu_busy_ratio":0.5,"cpu_stolen_ratio":0.1,"disk_read_bytes":null,"disk_written_bytes":null,` +
		`"network_received_bytes":null,"network_sent_bytes":null}`
	wantJSON(t, "without devices", hostBetween(before, after), cpuOnly)
	disk := func(read, written int64, physical bool) probe.DiskCounts {
		return probe.DiskCounts{ReadBytes: read, WrittenBytes: written, Physical: physical}
	}
	before.devicesOK, after.devicesOK = true, true
	before.devices = probe.HostCounts{
		Disks:    map[string]probe.DiskCounts{"sda": disk(10, 20, true), "dm-0": disk(10, 20, false)},
		Networks: map[string]probe.NetCounts{"lo": {ReceivedBytes: 1, SentBytes: 1}},
	}
	after.devices = probe.HostCounts{
		Disks: map[string]probe.DiskCounts{
			"sda": disk(11, 22, true), "dm-0": disk(11, 22, false), "sdb": disk(9, 9, true),
		},
		Networks: map[string]probe.NetCounts{"lo": {ReceivedBytes: 4, SentBytes: 5}, "new": {ReceivedBytes: 9, SentBytes: 9}},
	}
	wantJSON(t, "with devices", hostBetween(before, after), `{"cpu_busy_ratio":0.5,"cpu_stolen_ratio":0.1,`+
		`"disk_read_bytes":1,"disk_written_bytes":2,"network_received_bytes":3,"network_sent_bytes":4}`)
	wantJSON(t, "of nothing", hostBetween(hostReading{}, after), `null`)
}

func TestCPUOfShortIntervals(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, test := range []struct {
		what         string
		at, readings int64 // between the ends, and between the readings
		known        bool
	}{
		{"the last one of 4.6 ms", 4_600_000, 4_600_000, false},
		{"just too short", 100*ms - 1, 100 * ms, false},
		{"the shortest of a scenario, read a little early", 100 * ms, 99 * ms, true},
		{"a whole one after a reading that was late", 1000 * ms, 3 * ms, false},
	} {
		reading := func(at, usedAt int64, cpu, total time.Duration) counters {
			used := probe.Usage{User: cpu, RSS: 5}
			return counters{
				at: at, usedAt: usedAt, self: snapshot.Usage{User: cpu, RSS: 7},
				brokersAt: brokersAt{usedAt, []brokerUsage{{id: 1, pid: 101, Usage: used}}},
				host: hostReading{
					host: probe.Host{Busy: total + 1, Total: total}, hostOK: true, devicesOK: true,
				},
			}
		}
		var iv result.Interval
		addUsage(&iv, reading(0, 0, 0, 0), reading(test.at, test.readings, 10*time.Millisecond, 20*time.Millisecond))
		for name, figure := range map[string]*float64{
			"process": iv.ProcessCPUCores, "broker": iv.Brokers[0].CPUCores, "host": iv.Host.CPUBusyRatio,
			"stolen": iv.Host.CPUStolenRatio,
		} {
			if (figure != nil) != test.known {
				t.Errorf("%s: the CPU of the %s is %v, want it known: %v", test.what, name, figure, test.known)
			}
		}
		if (len(iv.BrokerCPUCores) > 0) != test.known {
			t.Errorf("%s: the brokers' CPU is %v", test.what, iv.BrokerCPUCores)
		}
		if iv.Host.DiskRead == nil || *iv.ProcessRSSBytes != 7 || *iv.Brokers[0].RSSBytes != 5 {
			t.Errorf("%s: what is no CPU is %+v", test.what, iv)
		}
		if busy := iv.Host.CPUBusyRatio; busy != nil && *busy > 1 {
			t.Errorf("%s: %v of the host is busy", test.what, *busy)
		}
	}
}
