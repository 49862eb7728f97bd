//go:build proof

package conformance

import (
	"testing"

	"kafkabench.example/kafka-bench/kmq"
)

func TestAllOnKafka(t *testing.T) {
	onKafka(t, nil, func(e kmq.Engine, l law) bool { return !ofKafka(e, l) && l.by != byModel })
}

func TestAllOnKafkaServerSide(t *testing.T) {
	onKafka(t, serverSide(), func(_ kmq.Engine, l law) bool { return l.by != byModel })
}
