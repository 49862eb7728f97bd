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
// The client counts retries and knows no time for all of them together, so a record
// would be given up after a third of a second while a leader is elected, and after
// minutes by a broker that has fallen silent. The driver makes a timeout of it:
//
//	an attempt   may take a third of the delivery timeout, and no longer than the
//	             client's own default
//	retries      are as many as fit into it, one each Producer.Retry.Backoff
//	the end      is refused metadata: before each retry the client asks which broker
//	             leads the partition. Where nothing of that partition was settled
//	             since it first asked, for two thirds of the delivery timeout, it is
//	             told that none does, and gives the records up.
//
// So a record that no attempt can deliver ends after two thirds of the delivery
// timeout where attempts fail at once, and after 4/3 of it where they hang.

// setPatience has the client retry for as long as timeout, if there is one.
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

// retriesWithin is how many retries take as long as timeout if each fails at once.
func retriesWithin(timeout, backoff time.Duration) int {
	return int((timeout + backoff - 1) / backoff)
}

// patientClient is the client that a producer is made of, for as long as there is
// hope.
type patientClient struct {
	ibm.Client
	network  *network
	patience time.Duration // 0 is without end
	settled  *tally

	mu       sync.Mutex
	troubles map[int32]trouble // by partition
}

func newPatientClient(client ibm.Client, timeout time.Duration, settled *tally, n *network) *patientClient {
	return &patientClient{
		Client: client, network: n, patience: timeout - timeout/3, settled: settled, troubles: make(map[int32]trouble),
	}
}

// trouble is when the leader of a partition was first asked for, and how many
// records of it had been settled by then.
type trouble struct {
	began   time.Time
	settled int64
}

// Leader is asked for before the first record of a partition, and before every
// retry.
func (c *patientClient) Leader(topic string, partition int32) (*ibm.Broker, error) {
	if c.network.line.IsCut() {
		return nil, errClosed
	}
	if since := c.troubled(partition); c.patience > 0 && since > c.patience {
		return nil, fmt.Errorf("no record of %s/%d was settled for %v, and the delivery timeout is over", topic,
			partition, since)
	}
	return c.Client.Leader(topic, partition)
}

// RefreshMetadata is what follows a failure.
func (c *patientClient) RefreshMetadata(topics ...string) error {
	if c.network.line.IsCut() {
		return errClosed
	}
	return c.Client.RefreshMetadata(topics...)
}

// troubled is for how long nothing of a partition was settled though it was tried.
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

// tally counts settled records by partition. Partitions that are a multiple of its
// length apart share a number: then one of them may be given up later.
type tally [1024]atomic.Int64

func (t *tally) of(partition int32) *atomic.Int64 { return &t[uint32(partition)%uint32(len(t))] }
