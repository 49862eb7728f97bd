package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kafka's scripts for its performance tools set these options.
var jvmOptions = []string{
	"-Xmx512M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
	"-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true",
}

func (l *lab) tool(ctx context.Context, class string, args ...string) (string, error) {
	all := append(append([]string{}, jvmOptions...), "-cp", l.kafka.Dist().Classpath(), "org.apache.kafka.tools."+class)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, l.java.Path, append(all, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", class, err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// javaWarmup is the number of records before javaRecords, while the JVM compiles.
const (
	javaRecords = 5_000_000
	javaWarmup  = 1_000_000
)

func (l *lab) produceJava(ctx context.Context, linger time.Duration) (sample, error) {
	topic, remove, err := l.topic(ctx, "java", partitions)
	if err != nil {
		return sample{}, err
	}
	defer remove()
	out, err := l.tool(ctx, "ProducerPerformance",
		"--bootstrap-server", l.kafka.Bootstrap()[0], "--topic", topic.Name,
		"--num-records", strconv.Itoa(javaWarmup+javaRecords), "--warmup-records", strconv.Itoa(javaWarmup),
		"--record-size", strconv.Itoa(recordBytes), "--throughput", "-1",
		"--command-property", "acks=1", "enable.idempotence=false", "compression.type=none",
		"batch.size="+strconv.Itoa(batchBytes), "linger.ms="+strconv.FormatInt(linger.Milliseconds(), 10))
	if err != nil {
		return sample{}, err
	}
	rate, err := parseProducer(out)
	return sample{perSecond: rate}, err
}

// producerTotal matches a line such as "3000000 records sent, 812345.6 records/sec (77.47 MB/sec),
// 12.3 ms avg …".
var producerTotal = regexp.MustCompile(`(?m)^\d+ (?:steady state )?records sent, ([0-9.]+) records/sec`)

// The rate is that after the warm-up.
func parseProducer(out string) (perSecond float64, err error) {
	all := producerTotal.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("kafka-producer-perf-test printed no rate:\n%s", out)
	}
	return strconv.ParseFloat(all[len(all)-1][1], 64)
}

type consumed struct {
	perSecond      float64 // from its start, including the join of the group
	fetchPerSecond float64 // without the time until partitions were assigned
}

func (l *lab) consumeJava(ctx context.Context, topic, group string, records int64) (consumed, error) {
	out, err := l.tool(ctx, "ConsumerPerformance",
		"--bootstrap-server", l.kafka.Bootstrap()[0], "--topic", topic, "--group", group,
		"--num-records", strconv.FormatInt(records, 10), "--timeout", "30000")
	if err != nil {
		return consumed{}, err
	}
	return parseConsumer(out)
}

// The table has a line of names and a line of figures, with commas between.
func parseConsumer(out string) (c consumed, err error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, head := range lines[:len(lines)-1] {
		if !strings.HasPrefix(head, "start.time") {
			continue
		}
		figures := strings.Split(lines[i+1], ",")
		for j, name := range strings.Split(head, ",") {
			var into *float64
			switch strings.TrimSpace(name) {
			case "nMsg.sec":
				into = &c.perSecond
			case "fetch.nMsg.sec":
				into = &c.fetchPerSecond
			}
			if into == nil || j >= len(figures) {
				continue
			}
			if *into, err = strconv.ParseFloat(strings.TrimSpace(figures[j]), 64); err != nil {
				return consumed{}, fmt.Errorf("kafka-consumer-perf-test: %w", err)
			}
		}
	}
	if c.perSecond == 0 || c.fetchPerSecond == 0 {
		return consumed{}, fmt.Errorf("kafka-consumer-perf-test printed no rates:\n%s", out)
	}
	return c, nil
}
