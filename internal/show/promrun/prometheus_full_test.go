//go:build full

package promrun

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kafkabench.example/kafka-bench/internal/project/needs"
	"kafkabench.example/kafka-bench/internal/result"
)

func debian(t *testing.T, program string) string {
	t.Helper()
	needs.Prometheus.Require(t)
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("this test needs %s; on Debian install the package prometheus: %v", program, err)
	}
	return path
}

func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool := debian(t, "promtool")
	p := replayed(t)
	for p.next() {
	}
	registry := prometheus.NewRegistry()
	must(t, registry.Register(p.collector))
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = answer.Body
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	check = exec.Command(promtool, "check", "config", "../../../deploy/prometheus/prometheus.yml")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool check config: %v\n%s", err, out)
	}
}

// scraped continues the run by one interval with each scrape.
type scraped struct {
	run     *replay
	metrics http.Handler

	mu    sync.Mutex
	ended bool
	after int           // scrapes of the finished run
	known chan struct{} // closed when Prometheus has the end
}

// When the second scrape of the finished run begins, Prometheus has stored the answer to the first.
func (s *scraped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		if s.after++; s.after == 2 {
			close(s.known)
		}
	} else {
		s.ended = !s.run.next()
	}
	s.metrics.ServeHTTP(w, r)
}

// Each query of the dashboard has an answer, and the counters are those of the run.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"classic": nil, "native": {"--enable-feature=native-histograms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scraped{run: replayed(t), known: make(chan struct{})}
			registry := prometheus.NewRegistry()
			must(t, registry.Register(s.run.collector))
			s.metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
			target := httptest.NewServer(s)
			defer target.Close()
			server := startPrometheus(t, target.Listener.Addr().String(), flags)
			select {
			case <-s.known:
			case err := <-server.gone:
				t.Fatalf("Prometheus ended: %v\n%s", err, server.log.String())
			}
			wantAnswers(t, server, name == "native")
			wantTotals(t, server, s.run.run.Intervals)
		})
	}
}

func wantAnswers(t *testing.T, server *prometheusServer, native bool) {
	t.Helper()
	buckets := server.ask(t, `count(kafka_bench_e2e_response_time_seconds_bucket)`)
	whole := server.ask(t, `count(kafka_bench_e2e_response_time_seconds)`)
	if (len(whole) > 0) != native || (len(buckets) > 0) == native {
		t.Errorf("Prometheus has the native histogram %v and the classic one %v", whole, buckets)
	}
	for _, q := range readDashboard(t).queries() {
		expr := strings.NewReplacer("$__rate_interval", "5m", "$run", ".*", "$agent", "0", "$figures", "^$").Replace(q.expr)
		values := server.ask(t, expr)
		if len(values) == 0 {
			t.Errorf("panel %q has no answer to %s", q.panel, expr)
		}
		for _, v := range values {
			if v == "NaN" || strings.Contains(v, "Inf") {
				t.Errorf("panel %q has the answer %s to %s", q.panel, v, expr)
			}
		}
	}
}

func wantTotals(t *testing.T, server *prometheusServer, intervals []result.Interval) {
	t.Helper()
	for _, m := range New().counters {
		var want float64
		for n := range intervals {
			v, _ := m.of(&intervals[n])
			want += v
		}
		if got := server.ask(t, prefix+m.name); len(got) != 1 || got[0] != strconv.FormatFloat(want, 'f', -1, 64) {
			t.Errorf("Prometheus has %s %v, want %v", m.name, got, want)
		}
	}
}

type prometheusServer struct {
	url  string
	gone chan error
	log  *bytes.Buffer // read it only after gone has a value
}

var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

func startPrometheus(t *testing.T, target string, flags []string) *prometheusServer {
	t.Helper()
	config := strings.ReplaceAll(string(deployed(t, "prometheus/prometheus.yml")), "127.0.0.1:9464", target)
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	must(t, os.WriteFile(file, []byte(config), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, debian(t, "prometheus"), append([]string{
		"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0",
	}, flags...)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 20 * time.Second
	log, err := c.StderrPipe()
	must(t, err)
	must(t, c.Start())
	s := &prometheusServer{gone: make(chan error, 1), log: new(bytes.Buffer)}
	address := make(chan string, 1)
	var ended sync.WaitGroup
	ended.Go(func() {
		for lines := bufio.NewScanner(log); lines.Scan(); {
			fmt.Fprintln(s.log, lines.Text())
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
		s.gone <- c.Wait()
	})
	t.Cleanup(func() { cancel(); ended.Wait() })
	select {
	case a := <-address:
		s.url = "http://" + a
	case err := <-s.gone:
		t.Fatalf("Prometheus did not start: %v\n%s", err, s.log.String())
	}
	return s
}

func (s *prometheusServer) ask(t *testing.T, expr string) (values []string) {
	t.Helper()
	response, err := http.PostForm(s.url+"/api/v1/query", url.Values{"query": {expr}})
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct {
				Value     [2]any
				Histogram [2]any
			}
		}
	}
	must(t, json.Unmarshal(body, &answer))
	if answer.Status != "success" {
		t.Fatalf("%s: %s", expr, answer.Error)
	}
	for _, r := range answer.Data.Result {
		values = append(values, fmt.Sprint(r.Value[1]))
	}
	return values
}
