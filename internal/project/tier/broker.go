package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

const stopTimeout = time.Minute

// up starts this checkout's broker. It replaces the broker of a killed run, and waits for another
// test run to end. down, and the end of the process, release the lock.
func up(ctx context.Context) (name string, down func(), err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	home, err := cluster.UserHome()
	if err != nil {
		return "", nil, err
	}
	name = fmt.Sprintf("test-%08x", crc32.ChecksumIEEE([]byte(dir)))
	lock, err := exclusive(filepath.Join(os.TempDir(), "kafka-bench-"+name+".lock"))
	if err != nil {
		return "", nil, err
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := home.Down(ctx, name); err != nil && !errors.Is(err, cluster.ErrNotUp) {
			fmt.Fprintln(os.Stderr, "error: stop Kafka:", err)
		}
	}
	stop()
	_, err = home.Up(ctx, name, cluster.KafkaOptions{
		Config: clustertest.Settings(), Progress: func(s string) { fmt.Fprintln(os.Stderr, s) },
	})
	if err != nil {
		stop()
		lock.Close()
		return "", nil, err
	}
	return name, func() { stop(); lock.Close() }, nil
}

// exclusive locks a file until it is closed, and waits while another process has the lock.
func exclusive(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(os.Stderr, "waiting for another test run in this folder, which has the shared broker")
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			file.Close()
			return nil, err
		}
	}
	return file, nil
}
