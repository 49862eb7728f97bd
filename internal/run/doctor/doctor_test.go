package doctor

import (
	"errors"
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
)

func of[T any](v T) *T { return &v }

func good() Readings {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	space := func(path string) Folder { return Folder{Path: path, FreeBytes: of(int64(50e9))} }
	return Readings{
		Java: cluster.Java{Path: "/bin/java", Version: "17.0.15"}, Maven: "/bin/mvn",
		Kafka: cluster.Dist{Dir: "/c/kafka-4.3.1", Version: "4.3.1"}, KafkaBytes: 55e6, Clusters: space("/c/clusters"),
		Librdkafka: Librdkafka{BuiltIn: true}, OpenFiles: of(uint64(65536)), Out: space("runs"), Temp: space("/tmp"),
		CPUs: 8, CPUModel: "CPU", Cores: of(8.0), MemoryBytes: of(int64(16e9)), CPU: &CPU{Busy: 0.02},
		Tuning:      probe.Tuning{ClockSource: "tsc", Governors: []string{"performance"}, HugePages: "madvise"},
		Calibration: &calibrate.Calibration{MadeAt: now.AddDate(0, 0, -1)}, Now: now,
	}
}

var checks = []string{
	"java", "maven", "kafka", "librdkafka", "loopback", "open files", "output folder", "temporary files", "cluster disk", "cores",
	"memory", "other load", "stolen CPU", "clock source", "CPU governor", "huge pages", "calibration",
}

func TestAllIsWell(t *testing.T) {
	all := Examine(good())
	for i, f := range all {
		if f.Status != OK || f.Check != checks[i] || f.Found == "" || f.Cost != "" || f.Remedy != "" || f.Prevents != "" {
			t.Errorf("%d is %+v, want an ok of %s", i, f, checks[i])
		}
	}
	if len(all) != len(checks) || Prevented(all, EveryRun) || Prevented(all, LocalKafka) {
		t.Errorf("%d findings: %+v", len(all), all)
	}
}

// What a system does not report is unknown, never ok.
func TestUnknown(t *testing.T) {
	r := good()
	r.OpenFiles, r.Cores, r.MemoryBytes, r.CPU, r.Tuning, r.Calibration, r.CPUs = nil, nil, nil, nil, probe.Tuning{}, nil, 0
	r.Out.FreeBytes, r.Temp.FreeBytes = nil, nil
	for _, f := range Examine(r) {
		want := Unknown
		if slices.Contains([]string{"java", "maven", "kafka", "librdkafka", "loopback", "cluster disk"}, f.Check) {
			want = OK
		}
		if f.Status != want {
			t.Errorf("%+v, want %s", f, want)
		}
	}
}

func TestExamine(t *testing.T) {
	missing := &cluster.Error{Kind: cluster.ErrUnavailable, What: "there is none", Remedy: "install it", Cause: errors.New("not found")}
	for name, test := range map[string]struct {
		change func(*Readings)
		want   Finding // without Cost and Remedy, if it is not a problem
	}{
		"no java":               {func(r *Readings) { r.NoJava = missing }, Finding{Check: "java", Status: Problem, Found: "there is none: not found", Remedy: "install it", Prevents: LocalKafka}},
		"no maven, but a cache": {func(r *Readings) { r.NoMaven = missing }, Finding{Check: "maven", Status: OK, Found: "missing, and not needed: Kafka is in the cache"}},
		"no maven": {func(r *Readings) { r.NoMaven, r.NoKafka = missing, errors.New("none") },
			Finding{Check: "maven", Status: Problem, Found: "there is none: not found", Remedy: "install it", Prevents: LocalKafka}},
		"no cache":       {func(r *Readings) { r.NoKafka = errors.New("none") }, Finding{Check: "kafka", Status: Note, Found: "4.3.1 is not in the cache (/c/kafka-4.3.1)"}},
		"no home":        {func(r *Readings) { r.NoHome = missing }, Finding{Check: "kafka", Status: Problem, Found: "there is none: not found", Remedy: "install it", Prevents: EveryRun}},
		"no compiler":    {func(r *Readings) { r.Librdkafka = Librdkafka{} }, Finding{Check: "librdkafka", Status: Note, Found: "not in this binary, and there is no C compiler"}},
		"a compiler":     {func(r *Readings) { r.Librdkafka = Librdkafka{Compiler: "/bin/gcc"} }, Finding{Check: "librdkafka", Status: Note, Found: "not in this binary; there is a C compiler, /bin/gcc"}},
		"another binary": {func(r *Readings) { r.Librdkafka = Librdkafka{Binary: "/bin/k"} }, Finding{Check: "librdkafka", Status: Note, Found: "not in this binary"}},
		"no port": {func(r *Readings) { r.NoLoopback = errors.New("denied") },
			Finding{Check: "loopback", Status: Problem, Found: "a port of 127.0.0.1 cannot be opened: denied", Remedy: "allow it: brokers, agents and pages of this machine listen there", Prevents: EveryRun}},
		"few files":         {func(r *Readings) { r.OpenFiles = of(uint64(1024)) }, Finding{Check: "open files", Status: Note, Found: "at most 1,024"}},
		"no limit of files": {func(r *Readings) { r.OpenFiles = of(^uint64(0)) }, Finding{Check: "open files", Status: OK, Found: "no limit"}},
		"no output":         {func(r *Readings) { r.Out.Fault = errors.New("read-only") }, Finding{Check: "output folder", Status: Problem, Found: "read-only", Remedy: "name another folder with --out", Prevents: EveryRun}},
		"full output":       {func(r *Readings) { r.Out.FreeBytes = of(int64(1e6)) }, Finding{Check: "output folder", Status: Note, Found: "1.00 MB free for runs"}},
		"no temporary files": {func(r *Readings) { r.Temp.Fault = errors.New("read-only") },
			Finding{Check: "temporary files", Status: Problem, Found: "read-only", Remedy: "name a folder that you may write to in TMPDIR", Prevents: LocalKafka}},
		"full disk": {func(r *Readings) { r.ClustersFault, r.ClustersRemedy = "it is full", "free some" },
			Finding{Check: "cluster disk", Status: Problem, Found: "it is full", Remedy: "free some; XDG_CACHE_HOME moves the folder of local clusters", Prevents: LocalKafka}},
		"few cores":       {func(r *Readings) { r.CPUs, r.Cores = 2, of(2.0) }, Finding{Check: "cores", Status: Note, Found: "2 cores, CPU"}},
		"limited cores":   {func(r *Readings) { r.Cores = of(1.5) }, Finding{Check: "cores", Status: Note, Found: "8 cores, CPU; a limit leaves this process 1.50 of them"}},
		"unlimited cores": {func(r *Readings) { r.Cores = nil }, Finding{Check: "cores", Status: OK, Found: "8 cores, CPU; limits of a container are not known"}},
		"little memory":   {func(r *Readings) { r.MemoryBytes = of(int64(1e9)) }, Finding{Check: "memory", Status: Note, Found: "1.00 GB available"}},
		"busy":            {func(r *Readings) { r.CPU = &CPU{Busy: 0.5} }, Finding{Check: "other load", Status: Note, Found: "50 % of the CPU time is used by other processes"}},
		"stolen":          {func(r *Readings) { r.CPU = &CPU{Stolen: 0.03} }, Finding{Check: "stolen CPU", Status: Note, Found: "the hypervisor took 3.00 % of the CPU time away"}},
		"slow clock":      {func(r *Readings) { r.Tuning.ClockSource = "hpet" }, Finding{Check: "clock source", Status: Note, Found: "hpet"}},
		"saving power":    {func(r *Readings) { r.Tuning.Governors = []string{"performance", "powersave"} }, Finding{Check: "CPU governor", Status: Note, Found: "performance, powersave"}},
		"huge pages":      {func(r *Readings) { r.Tuning.HugePages = "always" }, Finding{Check: "huge pages", Status: Note, Found: "transparent huge pages are always used"}},
		"not calibrated":  {func(r *Readings) { r.Calibration, r.NoCalibration = nil, calibrate.ErrNone }, Finding{Check: "calibration", Status: Note, Found: "none"}},
		"a damaged calibration": {func(r *Readings) { r.Calibration, r.NoCalibration = nil, errors.New("damaged") },
			Finding{Check: "calibration", Status: Note, Found: "damaged"}},
		"calibrated long ago": {func(r *Readings) { r.Now = r.Now.AddDate(1, 0, 0) }, Finding{Check: "calibration", Status: Note, Found: "of 2026-11-28"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := good()
			test.change(&r)
			all := Examine(r)
			got := all[slices.IndexFunc(all, func(f Finding) bool { return f.Check == test.want.Check })]
			if (got.Cost == "") != (got.Status == OK) || (got.Remedy == "") != (got.Status == OK) {
				t.Errorf("%+v lacks its cost or remedy", got)
			}
			if got.Status == Note {
				got.Remedy = ""
			}
			got.Cost = ""
			if got != test.want {
				t.Errorf("%+v, want\n%+v", got, test.want)
			}
			for what, want := range map[Prevents]bool{EveryRun: test.want.Prevents == EveryRun, LocalKafka: test.want.Prevents == LocalKafka} {
				if Prevented(all, what) != want {
					t.Errorf("%s is prevented: %v, want %v", what, !want, want)
				}
			}
		})
	}
}
