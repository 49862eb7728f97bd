package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
)

// surroundings are what the program meets outside itself, as far as a test in virtual
// time replaces it. The zero value is this machine, its network and its signals.
type surroundings struct {
	embedded cluster.EmbeddedOptions // of embedded clusters, but for their brokers; its Network is that of all
	probes   probe.Set
	stdin    io.Reader              // nil: that of this process
	signals  func(chan<- os.Signal) // sends interrupts to the channel; nil: those of this process
}

// through is a as a client reaches brokers on the network.
func (s surroundings) through(a access.Access) access.Access {
	if s.embedded.Network != nil {
		a.Dial = s.embedded.Network.DialContext
	}
	return a
}

// logOptions are those of a control log's client. In virtual time nothing is compressed by
// what has finalizers.
func (s surroundings) logOptions() []kgo.Opt {
	if s.embedded.Network != nil {
		return []kgo.Opt{kgo.ProducerBatchCompression(kgo.NoCompression())}
	}
	return nil
}

// notify has interrupts sent to the channel until signal.Stop.
func (s surroundings) notify(c chan<- os.Signal) {
	if s.signals != nil {
		s.signals(c)
		return
	}
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
}
