package foreign

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

func thousands(n int64) string { return unit.Count(n) }

func perSecond(rate float64) string {
	parsed, err := unit.ParseRate(strconv.FormatFloat(rate, 'f', -1, 64) + "/s")
	if err != nil {
		return strconv.FormatFloat(rate, 'f', -1, 64) + "/s"
	}
	return parsed.String()
}

type object map[string]any

// Texts and numbers always marshal.
func (o object) settings() result.Settings {
	text, _ := json.Marshal(o)
	s, _ := result.SettingsOf(json.RawMessage(text))
	return s
}

// describe fills in the settings, so that a comparison finds those that differ.
func (f *sspFile) describe(d *draft) {
	c := f.Config
	acks := strconv.Itoa(c.Acks)
	if c.Acks == -1 {
		acks = "all"
	}
	linger := unit.Duration(nanos(c.LingerMs, 1e6)).String()
	d.Run.Scenario = object{
		"name":  d.options.Name,
		"topic": object{"partitions": c.Partitions},
		"load": object{
			"rate": perSecond(c.Rate), "arrival": f.arrival(), "producers": c.Producers,
			"record": object{"size": unit.Size(c.RecordBytes).String(), "payload": c.Payload},
			"acks":   acks, "compression": c.Compression, "linger": linger, "batch": unit.Size(c.BatchBytes).String(),
		},
		"consume": f.consume(),
		"phases": object{
			"warmup":  unit.Duration(nanos(c.WarmupS, 1e9)).String(),
			"measure": unit.Duration(nanos(c.DurationS, 1e9)).String(),
		},
		"backpressure": f.backpressure(),
	}.settings()
	info := &d.Run.Run
	info.Topic, info.Group = c.Topic, c.Group
	info.Driver = result.Driver{Name: "sarama", Producer: []result.Setting{
		{Name: "acks", Value: acks}, {Name: "batch.bytes", Value: strconv.FormatInt(c.BatchBytes, 10)},
		{Name: "compression", Value: c.Compression}, {Name: "linger", Value: linger},
	}}
}

func (f *sspFile) arrival() object {
	if f.Config.BurstRate == 0 {
		return object{"process": "constant"}
	}
	return object{
		"process": "burst", "peak": perSecond(f.Config.BurstRate),
		"length": unit.Duration(f.Config.BurstLength).String(), "period": unit.Duration(f.Config.BurstPeriod).String(),
	}
}

func (f *sspFile) consume() object {
	work := func(delay goTime) object {
		return object{"time": unit.Duration(delay).String(),
			"jitter": unit.Duration(f.Config.ConsumerJitter).String(), "distribution": "uniform"}
	}
	consume := object{"consumers": f.Config.Consumers, "parallel": "partition", "work": work(f.Config.ConsumerDelay)}
	if at := unit.Duration(f.Config.PhaseAt); at > 0 {
		consume["changes"] = []object{{"at": at.String(), "work": work(f.Config.PhaseDelay)}}
	}
	return consume
}

func (f *sspFile) backpressure() object {
	if f.Config.MaxLag == 0 {
		return object{"controller": "off"}
	}
	return object{
		"controller": "hysteresis", "max_lag": f.Config.MaxLag, "resume_lag": f.Config.ResumeLag,
		"poll": unit.Duration(f.Config.GatePoll).String(),
	}
}

func (f *sspFile) caveats(d *draft) {
	c, n := f.Config, f.Final
	d.warn("the requested rate was %s%s, and %s was sent: its pacer drops ticks that it misses, and their records are not counted",
		perSecond(c.Rate), f.bursts(), unit.PerSecond(n.SentPerS))
	d.warn("its latencies begin when a record is sent, after any wait for the gate or the pacer: they are service times, and coordinated omission is not accounted for")
	received := "left-over records of the warm-up are counted in the run"
	if n.Received > n.Sent {
		received = fmt.Sprintf("%s records were received of %s sent: %s", thousands(n.Received), thousands(n.Sent),
			received)
	}
	d.warn("the warm-up has no effect, because new clients are created at its end, and %s", received)
	d.warn("its lag and process samples count time from before the warm-up; they are shifted by its %v, and are late by the time to create the clients",
		time.Duration(nanos(c.WarmupS, 1e9)))
	d.warn("its lag counts records that were delivered and not yet committed: about a second's worth, without any backlog")
	if c.Consumers != 1 {
		d.warn("consumers is %d, and one member reads all %d partitions regardless of the setting", c.Consumers,
			c.Partitions)
	}
	d.warn("negative latencies were dropped, sequence numbers never checked, and its CPU figures, which count idle time, are left out")
	if c.MaxLag > 0 {
		d.warn("the lag that closes its gate is up to a second old, so the cap of %s is exceeded; records that the closed gate held back are not counted", thousands(c.MaxLag))
	}
	if len(f.Compression.Codecs) > 0 {
		d.warn("codecs were tried on one concatenated block of %s and not on batches; its payloads hold the time, so that no two runs have the same", unit.Bytes(f.Compression.RawBytes))
	}
}

func (f *sspFile) bursts() string {
	if f.Config.BurstRate == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s for %v in every %v)", perSecond(f.Config.BurstRate), time.Duration(f.Config.BurstLength),
		time.Duration(f.Config.BurstPeriod))
}

func unitPerSecond(rate float64) string { return unit.PerSecond(rate) }

func sizeText(bytes int64) string { return unit.Size(bytes).String() }
