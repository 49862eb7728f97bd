package web

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

const mostTabs = 16

// tabTimeout bounds the time to send a state to a tab.
const tabTimeout = 10 * time.Second

// tabs sends states to open tabs as server-sent events. A slow tab misses some states, and delays
// nothing.
type tabs struct {
	joined chan struct{} // has a value when a tab came
	left   chan struct{} // has a value when a tab went

	mu   sync.Mutex
	all  map[chan []byte]struct{} // each buffers one state
	last []byte
}

func newTabs() *tabs {
	return &tabs{joined: make(chan struct{}, 1), left: make(chan struct{}, 1), all: map[chan []byte]struct{}{}}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (t *tabs) open() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// publish replaces a state that a tab has not taken yet.
func (t *tabs) publish(state []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = state
	for tab := range t.all {
		replace(tab, state)
	}
}

// A tab's buffer has one state. Calls must not be concurrent.
func replace(tab chan []byte, state []byte) {
	select {
	case <-tab:
	default:
	}
	tab <- state
}

// join is nil if there are too many tabs.
func (t *tabs) join() chan []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) >= mostTabs {
		return nil
	}
	tab := make(chan []byte, 1)
	if t.last != nil {
		tab <- t.last
	}
	t.all[tab] = struct{}{}
	signal(t.joined)
	return tab
}

func (t *tabs) leave(tab chan []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, tab)
	signal(t.left)
}

// ServeHTTP sends states until the tab is closed.
func (t *tabs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	tab := t.join()
	if tab == nil {
		w.Header().Del("Content-Type")
		http.Error(w, fmt.Sprintf("The page is open in %d tabs already. Close one, and load this one again.", mostTabs),
			http.StatusServiceUnavailable)
		return
	}
	defer t.leave(tab)
	c := http.NewResponseController(w)
	for {
		if err := c.Flush(); err != nil {
			return
		}
		select {
		case state := <-tab:
			_ = c.SetWriteDeadline(time.Now().Add(tabTimeout)) // without it, the server's deadline applies
			if _, err := fmt.Fprintf(w, "data: %s\n\n", state); err != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
