package sarama

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	ibm "github.com/IBM/sarama"
)

// How long a record may take.
//
// The client limits the number of retries, but not their total time. The driver adds a timeout:
//
//	an attempt   may take a third of the delivery timeout, and at most the
//	             client's own default
//	retries      as many as fit into the delivery timeout, one each
//	             Producer.Retry.Backoff
//	the end      is an error instead of metadata. Before each retry the client
//	             asks which broker leads the partition. If no record of the
//	             partition was completed for two thirds of the delivery timeout,
//	             the answer is an error, and the client fails the records.
//
// So a record that can't be delivered ends after two thirds of the delivery timeout if attempts fail at once, and
// after 4/3 of it if they hang.

// setPatience makes the client retry for about timeout; 0 changes nothing.
func setPatience(config *ibm.Config, timeout time.Duration) {
	if timeout == 0 {
		return
	}
	attempt := timeout / 3
	config.Net.DialTimeout = min(config.Net.DialTimeout, attempt)
	config.Net.ReadTimeout = min(config.Net.ReadTimeout, attempt)
	config.Net.WriteTimeout = min(config.Net.WriteTimeout, attempt)
	config.Producer.Timeout = min(config.Producer.Timeout, attempt).Truncate(time.Millisecond)
	config.Producer.Retry.Max = retriesWithin(timeout, config.Producer.Retry.Backoff)
	config.Metadata.Retry.Max = retriesWithin(timeout, config.Metadata.Retry.Backoff)
	config.Metadata.Timeout = timeout - attempt
}

func retriesWithin(timeout, backoff time.Duration) int {
	return int((timeout + backoff - 1) / backoff)
}

type patientClient struct {
	ibm.Client
	network  *network
	patience time.Duration // 0 means no limit
	settled  *tally

	mu       sync.Mutex
	troubles map[int32]trouble
}

func newPatientClient(client ibm.Client, timeout time.Duration, settled *tally, n *network) *patientClient {
	return &patientClient{
		Client: client, network: n, patience: timeout - timeout/3, settled: settled, troubles: make(map[int32]trouble),
	}
}

// trouble is when a partition's leader was first requested, and how many of its records were complete then.
type trouble struct {
	began   time.Time
	settled int64
}

// Leader is called before the first record of a partition, and before every retry.
func (c *patientClient) Leader(topic string, partition int32) (*ibm.Broker, error) {
	if c.network.line.IsCut() {
		return nil, errClosed
	}
	if since := c.troubled(partition); c.patience > 0 && since > c.patience {
		return nil, fmt.Errorf("no record of %s/%d was completed for %v, and the delivery timeout has passed", topic,
			partition, since)
	}
	return c.Client.Leader(topic, partition)
}

func (c *patientClient) RefreshMetadata(topics ...string) error {
	if c.network.line.IsCut() {
		return errClosed
	}
	return c.Client.RefreshMetadata(topics...)
}

// troubled returns for how long no record of a partition was completed.
func (c *patientClient) troubled(partition int32) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	settled := c.settled.of(partition).Load()
	t, known := c.troubles[partition]
	if !known || t.settled != settled {
		t = trouble{began: time.Now(), settled: settled}
		c.troubles[partition] = t
	}
	return time.Since(t.began)
}

// tally counts completed records by partition. If partitions share a counter, one may delay the
// other's failure.
type tally [1024]atomic.Int64

func (t *tally) of(partition int32) *atomic.Int64 { return &t[uint32(partition)%uint32(len(t))] }
