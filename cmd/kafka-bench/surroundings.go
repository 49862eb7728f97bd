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

// surroundings are the parts of the outside world that a test in virtual time replaces. The zero
// value is this machine, its network and its signals.
type surroundings struct {
	embedded cluster.EmbeddedOptions // for embedded clusters, except their brokers; all connections use its Network
	probes   probe.Set
	offline  bool                   // dry runs do not ask the cluster of --brokers
	stdin    io.Reader              // nil: standard input of this process
	signals  func(chan<- os.Signal) // sends interrupts to the channel; nil: those of this process
}

func (s surroundings) through(a access.Access) access.Access {
	if s.embedded.Network != nil {
		a.Dial = s.embedded.Network.DialContext
	}
	return a
}

// In virtual time the session's log is not compressed: zstd has finalizers, which do not work
// there.
func (s surroundings) logOptions() []kgo.Opt {
	if s.embedded.Network != nil {
		return []kgo.Opt{kgo.ProducerBatchCompression(kgo.NoCompression())}
	}
	return nil
}

func (s surroundings) notify(c chan<- os.Signal) {
	if s.signals != nil {
		s.signals(c)
		return
	}
	for _, end := range ends {
		if end != syscall.SIGHUP || !signal.Ignored(end) { // nohup ignores it
			signal.Notify(c, end)
		}
	}
}

// outliveReaders makes a closed pipe an error of the write, which a pipe drops, and not the end of the process.
func (s surroundings) outliveReaders() {
	if s.signals == nil {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
}

// ends are the signals that end a command in order. SIGHUP comes when a terminal closes, SIGQUIT by ctrl-\.
var ends = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
