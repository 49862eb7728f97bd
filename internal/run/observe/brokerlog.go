package observe

import (
	"cmp"
	"slices"
	"time"
)

// BrokerLog reads the usage of the local brokers at each multiple of Period on the machine's axis,
// for the intervals of a run whose parts other processes make. Use the BrokerLog after its observer
// has stopped.
type BrokerLog struct {
	Machine *Machine
	Period  time.Duration

	all []brokersAt
}

type brokersAt struct {
	atNs    int64
	brokers []brokerUsage
}

// Watch reads until the observer stops.
func (l *BrokerLog) Watch(o *Observer) {
	axis := l.Machine.Axis
	for !o.WaitUntil(multipleAfter(axis.Now(), int64(l.Period))) {
		l.all = append(l.all, brokersAt{atNs: axis.Now(), brokers: l.Machine.readBrokers()})
	}
}

// near returns the reading that is at most half a period away from a time; without one, it is empty.
func (l *BrokerLog) near(ns int64) brokersAt {
	if l == nil {
		return brokersAt{}
	}
	half := int64(l.Period) / 2
	i, _ := slices.BinarySearchFunc(l.all, ns-half, func(b brokersAt, from int64) int { return cmp.Compare(b.atNs, from) })
	if i == len(l.all) || l.all[i].atNs > ns+half {
		return brokersAt{}
	}
	return l.all[i]
}
