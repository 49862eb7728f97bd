package sarama

import (
	"testing"
	"testing/synctest"
	"time"

	ibm "github.com/IBM/sarama"
)

type hopeful struct{ ibm.Client }

func (hopeful) Leader(string, int32) (*ibm.Broker, error) { return nil, nil }

func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 30 * time.Second
		settled := &tally{}
		c := newPatientClient(hopeful{}, timeout, settled, &network{})
		refused := func(partition int32) bool {
			_, err := c.Leader("t", partition)
			return err != nil
		}
		began := time.Now()
		for !refused(1) {
			settled.of(2).Add(1)
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took < timeout*2/3 || took > timeout*2/3+time.Second {
			t.Errorf("given up after %v, with a timeout of %v", took, timeout)
		}
		if refused(2) {
			t.Error("a partition is given up that goes on")
		}
		settled.of(1).Add(1)
		if refused(1) {
			t.Error("a partition is given up though it goes on again")
		}
		endless := newPatientClient(hopeful{}, 0, settled, &network{})
		for range 3 {
			if _, err := endless.Leader("t", 1); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
	})
}
