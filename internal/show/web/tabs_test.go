package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestValueOfFewRecords(t *testing.T) {
	for count, want := range map[int64]string{1000: "7", 999: ""} {
		i := result.Interval{Time: map[string]result.IntervalTime{"e2e_response_time": {Count: count, P99Ns: 7}}}
		for _, v := range valuesOf(&result.Run{}, i) {
			if v.Name == "e2e response time p99" && v.Value != want {
				t.Errorf("of %d records the card says %q, want %q", count, v.Value, want)
			}
		}
	}
}

func TestLatestStateReplacesOthers(t *testing.T) {
	all := newTabs()
	slow, quick := all.join(), all.join()
	for n := range 3 {
		all.publish(fmt.Append(nil, n))
		if got := string(<-quick); got != fmt.Sprint(n) {
			t.Errorf("the quick tab has state %s of %d", got, n)
		}
	}
	if got := string(<-slow); got != "2" || len(slow) != 0 {
		t.Errorf("the slow tab has state %s, and %d more", got, len(slow))
	}
	if late := all.join(); string(<-late) != "2" {
		t.Error("a tab that comes late does not have the latest state")
	}
}

func TestTabsAreBounded(t *testing.T) {
	all := newTabs()
	first := all.join()
	for range mostTabs - 1 {
		all.join()
	}
	if all.join() != nil {
		t.Errorf("there are %d tabs", all.open())
	}
	if w := get(all, "/events"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "16 tabs") {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
	all.leave(first)
	if all.join() == nil {
		t.Error("there is no room after a tab was closed")
	}
}

func TestEvents(t *testing.T) {
	all := newTabs()
	all.publish([]byte(`{"status":"one"}`))
	server := httptest.NewServer(all)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	line, err := lines.ReadString('\n')
	if line != "data: {\"status\":\"one\"}\n" || err != nil || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	<-all.left
	if all.open() != 0 {
		t.Error("a tab that was closed is still there")
	}
}

func TestTurnstile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, open := newTurnstile(), make(chan struct{})
		var mu sync.Mutex
		inside, refused := 0, 0
		for range 2*mostWaiting + atOnce {
			go func() {
				err := turns.pass(t.Context(), func() error {
					mu.Lock()
					inside++
					mu.Unlock()
					<-open
					return nil
				})
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, errBusy) {
					refused++
				}
			}()
		}
		synctest.Wait()
		if inside != atOnce || refused != mostWaiting {
			t.Errorf("%d are made at once, and %d were refused", inside, refused)
		}
		close(open)
		synctest.Wait()
		if inside != atOnce+mostWaiting {
			t.Errorf("%d were made in all", inside)
		}
	})
}
