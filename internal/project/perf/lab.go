package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

type lab struct {
	plan   plan
	kafka  *cluster.Kafka
	admin  *cluster.Admin
	java   cluster.Java
	dir    string // results of runs; removed at the end
	stdout io.Writer
	stderr io.Writer
	topics int // made so far
	groups int // named so far
}

func openLab(ctx context.Context, p plan, stdout, stderr io.Writer) (_ *lab, err error) {
	l := &lab{plan: p, stdout: stdout, stderr: stderr}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	home, err := cluster.UserHome()
	if err != nil {
		return nil, err
	}
	if p.data != "" {
		home.Clusters = p.data
	}
	if l.java, err = cluster.FindJava(ctx); err != nil {
		return nil, err
	}
	l.kafka, err = home.StartKafka(ctx, cluster.KafkaOptions{
		// for the retention of the memory run
		Config:   map[string]string{"log.retention.check.interval.ms": "10000"},
		Progress: func(s string) { l.progress("%s", s) },
	})
	if err != nil {
		return nil, err
	}
	if l.admin, err = cluster.NewAdmin(l.kafka.Bootstrap(), access.Access{}); err != nil {
		return nil, err
	}
	l.dir, err = os.MkdirTemp("", "kafka-bench-perf-")
	return l, err
}

// close also works after an interrupt.
func (l *lab) close() (err error) {
	if l.admin != nil {
		l.admin.Close()
	}
	if l.kafka != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err = l.kafka.Stop(ctx)
	}
	if l.dir != "" {
		err = errors.Join(err, os.RemoveAll(l.dir))
	}
	return err
}

func (l *lab) progress(format string, values ...any) {
	fmt.Fprintf(l.stderr, format+"\n", values...)
}

func (l *lab) describe() {
	h := probe.DescribeHost()
	fmt.Fprintf(l.stdout, "Kafka %s, one broker on the same machine; franz-go %s, Go %s, Java %s; %s, %d CPUs, %s; %s.\n",
		l.kafka.Info().Version, franz.New().Version(), runtime.Version()[2:], l.java.Version,
		h.CPUModel, runtime.NumCPU(), h.OS, time.Now().UTC().Format(time.DateOnly))
}

func (l *lab) topic(ctx context.Context, name string, partitions int) (topic cluster.Topic, remove func(), err error) {
	l.topics++
	name = fmt.Sprintf("perf-%s-%d", name, l.topics)
	if topic, err = l.admin.CreateTopic(ctx, name, partitions, 1, nil); err != nil {
		return cluster.Topic{}, nil, err
	}
	return topic, func() {
		// also after an interrupt
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := l.admin.DeleteTopic(ctx, topic); err != nil {
			l.progress("%v", err)
		}
	}, nil
}

func (l *lab) bench(ctx context.Context, text string, overrides ...string) (*bench.Outcome, error) {
	s, err := scenario.Parse("perf", []byte(text), overrides...)
	if err != nil {
		return nil, err
	}
	outcome, err := bench.Run(ctx, bench.Config{
		Scenario: s, Cluster: l.kafka, Driver: franz.New(), Out: l.dir,
		Tool: result.Tool{Version: "perf", GoVersion: runtime.Version()},
	})
	if err != nil {
		return nil, err
	}
	for _, reason := range outcome.Run.Verdict.Reasons {
		l.progress("  the run is invalid: %s", reason)
	}
	return outcome, nil
}

// settle empties the heap for the next measurement.
func settle() { debug.FreeOSMemory() }

func perSecond(records float64, recordBytes int) string {
	return fmt.Sprintf("%s (%.0f MB/s)", unit.PerSecond(records), records*float64(recordBytes)/1e6)
}
