package doctor

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/calibrate"
)

// Config says what to look at.
type Config struct {
	Out        string // where runs are kept
	Probes     probe.Set
	Librdkafka bool          // it is built in
	Sample     time.Duration // of the CPU
}

// Readings is what was found on a machine. What is unknown is nil or empty.
type Readings struct {
	Java     cluster.Java
	NoJava   error
	Maven    string // its path
	NoMaven  error
	NoHome   error // why there is no folder for local clusters
	Kafka    cluster.Dist
	NoKafka  error // why it is not in the cache
	Clusters Folder
	// ClustersFault says why brokers cannot keep their logs there; empty if they can.
	ClustersFault, ClustersRemedy string
	KafkaBytes                    int64 // of the copy in the cache
	Librdkafka                    Librdkafka

	NoLoopback error // why no port of loopback can be opened
	OpenFiles  *uint64
	Out, Temp  Folder

	CPUs        int
	CPUModel    string
	Cores       *float64 // which a limit leaves
	MemoryBytes *int64   // available
	CPU         *CPU
	Tuning      probe.Tuning

	Calibration   *calibrate.Calibration
	NoCalibration error
	Now           time.Time
}

// Read takes the readings. It changes nothing, and takes about as long as the sample.
func Read(ctx context.Context, cfg Config) Readings {
	host := probe.DescribeHost()
	r := Readings{
		CPUs: host.CPUs, CPUModel: host.CPUModel, Cores: probe.AllowedCores(os.Getpid()),
		MemoryBytes: probe.AvailableMemory(), OpenFiles: probe.OpenFiles(), Tuning: probe.ReadTuning(),
		NoLoopback: listen(), Now: time.Now(),
		Out:        folder(cfg.Out, result.CheckWritable),
		Temp:       folder(os.TempDir(), checkTemp),
		Librdkafka: Librdkafka{cfg.Librdkafka, besides("kafka-bench-librdkafka"), compiler()},
	}
	r.Java, r.NoJava = cluster.FindJava(ctx)
	r.Maven, r.NoMaven = cluster.FindMaven()
	var home cluster.Home
	if home, r.NoHome = cluster.UserHome(); r.NoHome == nil {
		r.Kafka, r.KafkaBytes, r.NoKafka = home.Cached("")
		r.Clusters = folder(home.Clusters, func(string) error { return nil })
		r.ClustersFault, r.ClustersRemedy = cluster.DiskFault(existing(home.Clusters))
		r.Calibration, r.NoCalibration = calibrate.Load(home.Dist)
	}
	r.CPU = sample(ctx, cfg)
	return r
}

func listen() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return l.Close()
}

func folder(path string, check func(string) error) Folder {
	f := Folder{Path: path, Fault: check(path)}
	if bytes, err := cluster.FreeDisk(existing(path)); err == nil {
		f.FreeBytes = &bytes
	}
	return f
}

// existing returns the path, or the nearest folder above it that exists.
func existing(path string) string {
	if all, err := filepath.Abs(path); err == nil {
		path = all
	}
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

func checkTemp(path string) error {
	made, err := os.MkdirTemp(path, "kafka-bench-doctor-")
	if err != nil {
		return err
	}
	return os.Remove(made)
}

// besides returns the path of another program in the folder of this one; "" if there is none.
func besides(name string) string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	path, err := exec.LookPath(filepath.Join(filepath.Dir(own), name))
	if err != nil {
		return ""
	}
	return path
}

func compiler() string {
	for _, name := range []string{os.Getenv("CC"), "gcc", "clang", "cc"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// sample returns nil if the system does not report the CPU time of the machine.
func sample(ctx context.Context, cfg Config) *CPU {
	before, err := cfg.Probes.Host()
	if err != nil {
		return nil
	}
	select {
	case <-time.After(cfg.Sample):
	case <-ctx.Done():
		return nil
	}
	after, err := cfg.Probes.Host()
	busy, stolen, known := after.Since(before)
	if err != nil || !known {
		return nil
	}
	return &CPU{busy, stolen}
}
