// Command broker runs one Kafka broker for a proof in another module: on an address that other network
// namespaces reach, until standard input ends.
//
//	broker -host 10.0.0.1
//
// When the broker is ready, it prints a line: its address, and the ID of the cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

func main() {
	host := flag.String("host", "127.0.0.1", "the `ADDRESS` of this machine that the broker listens on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *host, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// stopTimeout bounds the end of the broker.
const stopTimeout = time.Minute

func run(ctx context.Context, host string, stdin io.Reader, stdout io.Writer) (err error) {
	home, err := cluster.UserHome()
	if err != nil {
		return err
	}
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{
		Host: host, Config: clustertest.Settings(), Progress: func(s string) { fmt.Fprintln(os.Stderr, s) },
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		err = errors.Join(err, k.Stop(ctx))
	}()
	fmt.Fprintln(stdout, strings.Join(k.Bootstrap(), ","), k.Info().ID)
	ended := make(chan struct{})
	go func() { // ends with standard input, or with the process
		_, _ = io.Copy(io.Discard, stdin)
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}
