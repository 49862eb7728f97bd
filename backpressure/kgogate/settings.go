package kgogate

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// replication is the longest time from when a broker times out a produce request until the
// request's records are below the high watermark.
const replication = 10 * time.Second

func (c Config) clientFaults(client *kgo.Client) []error {
	doubt := cmp.Or(c.Gate.Doubt, lagcontrol.DefaultDoubt)
	var faults []error
	if client.OptValue(kgo.RequiredAcks) == kgo.NoAck() {
		faults = append(faults,
			errors.New("kgogate: the client asks for no acknowledgements (acks=0), so it never knows what is in the log: use kgo.AllISRAcks"))
	}
	if client.OptValue(kgo.ManualFlushing) == true && c.Excess != Shed {
		faults = append(faults,
			errors.New("kgogate: records cannot wait for room in front of a client that sends only when it is flushed: use Shed, or no kgo.ManualFlushing"))
	}
	if timeout, ok := client.OptValue(kgo.RecordDeliveryTimeout).(time.Duration); ok && timeout > doubt {
		faults = append(faults,
			fmt.Errorf("kgogate: the client's kgo.RecordDeliveryTimeout of %v is longer than the gate's time of doubt of %v, after which the gate forgets a record: set Config.Gate.Doubt to at least as much", timeout, doubt))
	}
	return append(faults, c.requestFaults(client, doubt)...)
}

// requestFaults returns an error for each time of the gate (Doubt, Inherit) that is too short,
// because a request can take longer.
func (c Config) requestFaults(client *kgo.Client, doubt time.Duration) []error {
	produce, _ := client.OptValue(kgo.ProduceRequestTimeout).(time.Duration)
	overhead, _ := client.OptValue(kgo.RequestTimeoutOverhead).(time.Duration)
	underway := produce + overhead + replication
	const shorter = "kgogate: the gate's %s of %v is shorter than the %v in which a request of the client can still reach the log " +
		"(kgo.ProduceRequestTimeout of %v, kgo.RequestTimeoutOverhead of %v, and %v for the replication): set Config.Gate.%s"
	var faults []error
	if doubt < underway {
		faults = append(faults, fmt.Errorf(shorter+" to at least as much", "Doubt", doubt, underway, produce,
			overhead, replication, "Doubt"))
	}
	inherit := c.Gate.Inherit
	if c.Gate.Share != (backpressure.Share{}) {
		inherit = cmp.Or(inherit, lagcontrol.DefaultInherit)
	}
	if inherit > 0 && inherit < underway {
		faults = append(faults,
			fmt.Errorf(shorter+" to at least as much, or to NoInherit if no process had the share before",
				"Inherit", inherit, underway, produce, overhead, replication, "Inherit"))
	}
	return faults
}

// warnOfTransactions logs that a transaction with as many records as the bound never ends: its records count as lag
// until it is committed.
func (c Config) warnOfTransactions(client *kgo.Client) {
	id, _ := client.OptValue(kgo.TransactionalID).(string)
	if id != "" && c.MaxLag > 0 && c.Gate.Logger != nil {
		c.Gate.Logger.Warn("kgogate: a transaction of this client must have fewer records than MaxLag: they count until it is committed, and consumers get none before",
			"transactional_id", id, "max_lag", c.MaxLag)
	}
}
