package remote

import (
	"strings"
	"sync"
)

// tailBytes bounds what is kept of a child's standard error: room for the head of
// a stack trace.
const tailBytes = 2 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write keeps the last tailBytes. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// last is what was kept, to be put behind a reason; nothing if there was nothing.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.kept))
	if text == "" {
		return ""
	}
	return "; it said last: " + text
}
