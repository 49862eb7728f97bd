package bench

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// begin starts to observe the brokers of the coming window. After a repeated start it only moves
// the window.
func (l *leader) begin(in time.Duration) {
	l.journal.SetAxis(in, time.Duration(l.cfg.Scenario.Phases.Measure))
	if l.machine != nil {
		return
	}
	period := time.Duration(l.cfg.Scenario.Sampling.Interval)
	l.machine = &observe.Machine{
		Axis: l.axis, Probes: l.cfg.Probes, Cluster: l.cfg.Cluster, Producers: remote.ProducersOf(l.axis),
		Dirty:          &observe.DirtyPages{Axis: l.axis, Probes: l.cfg.Probes, Period: period},
		DiskYardsticks: l.cfg.DiskYardsticks,
	}
	if _, local := l.cfg.Cluster.(cluster.Local); local {
		l.brokerLog = &observe.BrokerLog{Machine: l.machine, Period: period}
		l.observer.Go(func(context.Context) { l.brokerLog.Watch(l.observer) })
		l.observer.Start(l.machine.Dirty)
	}
	l.looking.Go(l.lookAtWindow)
}

// finish ends the window and the observers, if they began.
func (l *leader) finish() {
	close(l.over)
	l.looking.Wait()
	l.observer.Stop()
}

func (l *leader) lookAtWindow() {
	if !l.await(func() int64 { return 0 }) || l.axis.End() <= 0 { // interrupted in the warm-up
		return
	}
	l.atStart = l.machine.Read()
	l.observer.Go(func(context.Context) { l.brokers.LookAtStart() })
	if l.brokers != nil { // not earlier: a reading under way would delay the reading at the start
		l.observer.Start(l.brokers)
	}
	l.await(l.axis.End)
	l.observer.Go(func(context.Context) { l.brokers.LookAtEnd() })
	l.atEnd = l.machine.Read()
}

// await waits for a time of the axis, which may move. It returns false if the agents are done
// earlier.
func (l *leader) await(at func() int64) bool {
	for left := at() - l.axis.Now(); left > 0; left = at() - l.axis.Now() {
		select {
		case <-time.After(min(time.Duration(left), readPoll)):
		case <-l.over:
			return false
		}
	}
	return true
}

// describeBrokers sets what the coordinator itself knows. It reads the brokers' disks, so it comes
// before release deletes the topics.
func (c *conclusion) describeBrokers() {
	c.Machine.Compression = c.compression(c.End.Sending)
	c.Machine.Storage = c.storage(c.Sent.Sent, c.Start.Sending, c.End.Sending, c.Fill)
	if s := c.Machine.Storage; s != nil && len(c.parts) < c.plan.Parts { // the topic also holds the missing part's records
		s.DiskBytesPerRecord, s.DiskRatio = nil, nil
	}
	c.Machine.Brokers = observe.WithMetrics(observe.BrokersBetween(c.atStart, c.atEnd, c.peaks), c.brokers.Metrics())
	if c.brokerLog != nil { // the agents share the brokers' machine, but only this process knows the brokers' disks
		here := c.machine.Between(c.atStart, c.atEnd, 0, c.peaks)
		c.Machine.HostUse, c.Machine.Gone = here.HostUse, here.Gone
	}
}
