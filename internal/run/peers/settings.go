package peers

import (
	"strconv"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

func producerArgs(s scenario.Scenario, topic string, warmup, all int64) []string {
	rate := s.Load.Rate
	if rate.IsMax() && s.Load.MaxRate.Records > 0 {
		rate = s.Load.MaxRate
	}
	throughput := "-1"
	if !rate.IsMax() {
		throughput = strconv.FormatFloat(rate.PerSecond(), 'f', -1, 64)
	}
	args := []string{
		"--topic", topic, "--num-records", strconv.FormatInt(all, 10),
		"--record-size", strconv.FormatInt(int64(s.Load.Record.Size.Values[0]), 10), "--throughput", throughput, "--reporting-interval", "1000",
	}
	if warmup > 0 {
		args = append(args, "--warmup-records", strconv.FormatInt(warmup, 10))
	}
	args = append(args, "--command-property")
	for _, setting := range producerSettings(s) {
		args = append(args, setting.Name+"="+setting.Value)
	}
	return args
}

func producerSettings(s scenario.Scenario) []result.Setting {
	linger := (time.Duration(s.Load.Linger) + time.Millisecond - 1) / time.Millisecond
	settings := []result.Setting{
		{Name: "acks", Value: s.Load.Acks},
		{Name: "enable.idempotence", Value: strconv.FormatBool(s.Load.Idempotent)},
		{Name: "compression.type", Value: s.Load.Compression},
		{Name: "linger.ms", Value: strconv.FormatInt(int64(linger), 10)},
		{Name: "batch.size", Value: strconv.FormatInt(max(0, int64(s.Load.Batch)), 10)}, // 0: one record in a batch
		{Name: "max.in.flight.requests.per.connection", Value: strconv.Itoa(max(s.Load.InFlight, 1))},
	}
	switch s.Load.Compression {
	case "gzip", "lz4", "zstd":
		if s.Load.Level > 0 {
			settings = append(settings, result.Setting{Name: "compression." + s.Load.Compression + ".level", Value: strconv.Itoa(s.Load.Level)})
		}
	}
	return settings
}
