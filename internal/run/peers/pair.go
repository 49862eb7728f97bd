package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/foreign"
)

// OutputFile is the name of the file with a tool's output, in the folder of its run.
const OutputFile = "peer.txt"

// Pair runs both tools once on a topic of their own. Produce creates the topic and Close deletes
// it. A Pair belongs to one goroutine.
type Pair struct {
	Tools Tools
	Admin *cluster.Admin
	// ID is the campaign's. With Round it makes the name of the topic and the group unique.
	ID    string
	Round int    // from 1
	Keep  bool   // the topic and the group
	Out   string // the folder for runs
	Tool  result.Tool
	Host  result.Host // of the tools, as our own run describes it

	name    string // of the topic and the group
	topic   cluster.Topic
	records int64
}

// Made is a run of a tool, imported and saved.
type Made struct {
	Dir string
	Run result.Run
}

// ErrNothingProduced is wrapped by Consume if Produce did not succeed before.
var ErrNothingProduced = errors.New("nothing was produced for it to consume")

// Produce creates the topic and runs the producer's tool on it. For a closed loop, perSecond
// determines how many records the tool sends. After an error there is no run.
func (p *Pair) Produce(ctx context.Context, s scenario.Scenario, perSecond float64) (*Made, error) {
	named := runname.New("peers", p.ID, time.Now(), 2*patience(s)+reading)
	named.Kept = p.Keep
	p.name = fmt.Sprintf("%s-%d", named, p.Round)
	topic, err := p.Admin.CreateTopic(ctx, p.name, s.Topic.Partitions, s.Topic.Replication, s.Topic.Config)
	p.topic = topic
	if err != nil {
		return nil, err
	}
	warmup, all := records(s, perSecond)
	// Without brokers, the tool waits a minute for each record.
	ctx, cancel := context.WithTimeout(ctx, patience(s))
	defer cancel()
	output, err := p.Tools.run(ctx, "ProducerPerformance", producerArgs(s, topic.Name, warmup, all)...)
	if err != nil {
		return nil, err
	}
	ended := time.Now()
	r, err := p.read(foreign.ProducerPerf, s, Producer, output, ended)
	if err != nil {
		return nil, err
	}
	p.records = all
	load := &r.Run.Load
	load.ClosedLoop = s.Load.Rate.IsMax()
	load.Bytes = load.Acked * int64(s.Load.Record.Size.Values[0])
	r.Known("load.closed_loop", "load.bytes")
	r.Run.Run.Driver.Producer = producerSettings(s)
	return p.save(r, output)
}

// reading is how long the consumer's tool is given, beyond the time of the producer's. Nothing stops it while it reads.
const reading = time.Hour

func patience(s scenario.Scenario) time.Duration {
	return 5*time.Duration(s.Phases.Warmup+s.Phases.Measure) + time.Minute
}

// Consume runs the consumer's tool on the produced records.
func (p *Pair) Consume(ctx context.Context, s scenario.Scenario) (*Made, error) {
	if p.records == 0 {
		return nil, fmt.Errorf("%s: %w", Consumer, ErrNothingProduced)
	}
	output, err := p.Tools.run(ctx, "ConsumerPerformance", "--topic", p.topic.Name, "--group", p.name,
		"--num-records", strconv.FormatInt(p.records, 10), "--timeout", "30000")
	if err != nil {
		return nil, err
	}
	r, err := p.read(foreign.ConsumerPerf, s, Consumer, output, time.Now())
	if err != nil {
		return nil, err
	}
	r.Run.Run.Group = p.name
	return p.save(r, output)
}

// Close deletes the topic and the group, if Produce created them.
func (p *Pair) Close(ctx context.Context) error {
	if p.topic.Name == "" {
		return nil
	}
	return errors.Join(p.Admin.DeleteGroup(ctx, p.name), p.Admin.DeleteTopic(ctx, p.topic))
}

func (p *Pair) read(format foreign.Format, s scenario.Scenario, tool string, output []byte, ended time.Time) (*foreign.Result, error) {
	r, err := foreign.Parse(OutputFile, output, foreign.Options{
		Format: format, Name: s.Name + "-" + strings.TrimPrefix(tool, "kafka-"), Modified: ended, Tool: p.Tool,
	})
	if err != nil {
		return nil, fmt.Errorf("the output of %s cannot be read: %w", tool, err)
	}
	c := p.Tools.Cluster.Info()
	info := &r.Run.Run
	info.Host, info.Topic = p.Host, p.topic.Name
	info.Driver.Name, info.Driver.Version = tool, p.Tools.Dist.Version
	info.Cluster = result.Cluster{Kind: c.Kind, ID: c.ID, Version: c.Version, Brokers: c.Brokers, Note: c.Note, Settings: c.Settings}
	if r.Run.Scenario, err = result.SettingsOf(s); err != nil {
		return nil, err
	}
	// These times are about a second late, because a JVM takes that long to end.
	r.Known("run.started_at", "run.finished_at", "run.host", "run.cluster")
	r.Run.Verdict.Warnings = append(r.Run.Verdict.Warnings, Differences(s)...)
	return r, nil
}

func (p *Pair) save(r *foreign.Result, output []byte) (*Made, error) {
	dir, err := r.Save(p.Out)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, OutputFile), output, 0o644); err != nil {
		return nil, fmt.Errorf("the tool's output could not be saved: %w", err)
	}
	return &Made{Dir: dir, Run: r.Run}, nil
}
