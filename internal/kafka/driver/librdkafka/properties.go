//go:build librdkafka && cgo

package librdkafka

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// properties are the settings of a client that differ from its defaults, by the names that Kafka's own clients use:
// linger.ms, not queue.buffering.max.ms.
type properties map[string]string

func common(brokers []string, clientID string) properties {
	p := properties{
		"bootstrap.servers":   strings.Join(brokers, ","),
		"enable.metrics.push": "false", // KIP-714: unwanted load
		"log_level":           "0",     // otherwise the client would write to standard error
	}
	if clientID != "" {
		p["client.id"] = clientID
	}
	return p
}

func secret(name string) bool {
	return name == "sasl.username" || name == "sasl.password" || strings.HasSuffix(name, ".pem")
}

func (p properties) admit(a access.Access) error {
	p["security.protocol"] = a.Protocol()
	if a.SASL != nil {
		p["sasl.mechanisms"] = a.SASL.Mechanism
		if a.SASL.Tokens != nil {
			p["sasl.mechanisms"] = access.MechanismToken // see refresher
		} else {
			p["sasl.username"], p["sasl.password"] = a.SASL.Username, string(a.SASL.Password)
		}
	}
	if a.TLS == nil {
		return nil
	}
	text, err := a.PEM()
	if err != nil {
		return err
	}
	if text.Authorities != "" {
		p["ssl.ca.pem"] = text.Authorities
	}
	if text.Chain != "" {
		p["ssl.certificate.pem"], p["ssl.key.pem"] = text.Chain, string(text.Key)
	}
	if text.AnyName {
		p["ssl.endpoint.identification.algorithm"] = "none"
	}
	return nil
}

func (p properties) setInt(name string, value int64) { p[name] = strconv.FormatInt(value, 10) }

// setTime sets a time in the client's unit, whole milliseconds.
func (p properties) setTime(name string, value time.Duration) { p.setInt(name, value.Milliseconds()) }

func (p properties) config(face kafka.ConfigMap) *kafka.ConfigMap {
	config := make(kafka.ConfigMap)
	maps.Copy(config, face)
	for name, value := range p {
		config[name] = value
	}
	return &config
}
