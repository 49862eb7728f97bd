package analysis

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

var kafkaNames = map[string]string{
	"RequiredAcks": "acks", "ProducerLinger": "linger.ms", "linger": "linger.ms",
	"ProducerBatchCompression": "compression.type", "compression": "compression.type",
	"ProducerBatchMaxBytes": "batch.size", "batch.bytes": "batch.size",
	"MaxProduceRequestsInflightPerBroker": "max.in.flight.requests.per.connection",
	"DisableIdempotentWrite":              "enable.idempotence",
	"FetchMaxBytes":                       "fetch.max.bytes", "FetchMaxPartitionBytes": "max.partition.fetch.bytes",
	"FetchMaxWait": "fetch.max.wait.ms", "FetchMinBytes": "fetch.min.bytes",
	"SessionTimeout": "session.timeout.ms", "HeartbeatInterval": "heartbeat.interval.ms",
}

// byKafka returns a client's setting under Kafka's name, with one spelling of its
// value: linger.ms of 5ms is 5, and acks of -1 is all.
func byKafka(s result.Setting) result.Setting {
	own := s.Name
	if name, other := kafkaNames[own]; other {
		s.Name = name
	}
	switch {
	case own == "DisableIdempotentWrite":
		if disabled, err := strconv.ParseBool(s.Value); err == nil {
			s.Value = strconv.FormatBool(!disabled)
		}
	case s.Name == "acks":
		if word, known := map[string]string{"-1": "all", "leader": "1", "none": "0"}[s.Value]; known {
			s.Value = word
		}
	case strings.HasSuffix(s.Name, ".ms"):
		text := s.Value
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			text += "ms"
		}
		if d, err := time.ParseDuration(text); err == nil {
			s.Value = d.String()
		}
	}
	return s
}

// across says whether two sets have different clients or imported runs. If so, a setting that only
// one set reports may be the same in both.
type across struct {
	clients bool
	tools   bool
}

func acrossOf(a, b []*result.Recorded) (found across) {
	names := map[string]bool{}
	for _, r := range slices.Concat(a, b) {
		found.tools = found.tools || r.Run.Run.Imported != nil
		names[r.Run.Run.Driver.Name] = true
	}
	found.clients = found.tools || len(names) > 1
	return found
}

func (x across) clientDifferences(a, b []*result.Recorded) []Difference {
	if x.clients {
		return Differences(clientSettingsAs(a, byKafka), clientSettingsAs(b, byKafka))
	}
	return Differences(ClientSettings(a), ClientSettings(b))
}

// Told returns the differences to show, without settings that only one set reports because its
// client or tool differs.
func (a *Against) Told(all []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(all), func(d Difference) bool {
		return d.ofOneSide() && (a.across.tools || a.across.clients && ofClient(d.Name))
	})
}

func (d Difference) ofOneSide() bool { return (d.A == "") != (d.B == "") }

func ofClient(name string) bool {
	return strings.HasPrefix(name, "producer setting ") || strings.HasPrefix(name, "consumer setting ")
}
