//go:build full

package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/kmq"
)

func TestTracker(t *testing.T) {
	e, err := cluster.StartEmbedded(cluster.EmbeddedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Stop(t.Context()) }()
	brokers := e.Bootstrap()
	orders(t, kgo.SeedBrokers(brokers...))
	q := queueOf(t, kmq.Config{
		Brokers: brokers, Engine: kmq.Markers{ExternalTracker: true}, Visibility: time.Second,
		MaxDeliveries: 2, DeadLetterTopic: "orders-dead",
	})
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{
		"kmq", "tracker", "--brokers", strings.Join(brokers, ","), "--group", "billing", "--topic", "orders",
		"--max-deliveries", "2", "--dead-letter", "orders-dead", "--metrics", "127.0.0.1:0",
	}, "\n"))
	var logged bytes.Buffer
	child.Stderr = io.MultiWriter(os.Stderr, &logged)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = child.Process.Kill()
			_ = child.Wait()
		}
	}()
	lines := bufio.NewScanner(out)
	var page string
	for page == "" && lines.Scan() {
		page, _ = strings.CutPrefix(lines.Text(), "metrics: ")
		if !strings.HasPrefix(page, "http") {
			page = ""
		}
	}

	for _, d := range receive(t, q, 8) {
		if d.ID().Offset == 0 { // the first record of each partition is not settled
			continue
		}
		if err := d.Ack(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range receive(t, q, 2) {
		if d.Attempt() != 2 || d.ID().Offset != 0 {
			t.Errorf("%v, attempt %d", d.ID(), d.Attempt())
		}
	}
	for end := time.Now().Add(30 * time.Second); ; {
		told := scrape(t, page)
		if told["kafka_kmq_moved_records_total"] == 2 && told["kafka_kmq_dead_lettered_records_total"] == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("told: %v", told)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := child.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var last string
	for lines.Scan() {
		last = lines.Text()
	}
	ended = true
	if err := child.Wait(); err != nil {
		t.Errorf("an interrupted tracker ends with %v", err)
	}
	if want := "redelivered 2, dead-lettered 2, missing 0"; last != want {
		t.Errorf("its last word is %q, want %q", last, want)
	}
	first, _, _ := strings.Cut(logged.String(), "\n")
	wantSaid(t, first, `msg="kmq: opening a tracker" topic=orders group=billing engine=markers max_deliveries=2 dead_letter_topic=orders-dead markers_topic=orders-markers`)
}

func scrape(t *testing.T, page string) map[string]float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	told := make(map[string]float64)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		name, _, _ = strings.Cut(name, "{")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			told[name] += v
		}
	}
	return told
}
