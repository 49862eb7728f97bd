package remote

import (
	"strings"
	"sync"
)

// The head of a child's standard error has the reason of a panic.
const (
	headBytes = 512
	tailBytes = 1536
)

// tail keeps the head and the end of what is written to it. Write never fails.
type tail struct {
	mu        sync.Mutex
	head, end []byte
	cut       bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(p), headBytes-len(t.head))
	t.head = append(t.head, p[:n]...)
	t.end = append(t.end, p[n:]...)
	if over := len(t.end) - tailBytes; over > 0 {
		t.end, t.cut = append(t.end[:0], t.end[over:]...), true
	}
	return len(p), nil
}

// last returns the kept text on one line, as the end of a message; "" if there is none.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	between := ""
	if t.cut {
		between = " … "
	}
	words := strings.Fields(string(t.head) + between + string(t.end))
	if len(words) == 0 {
		return ""
	}
	return "; it said: " + strings.Join(words, " ")
}
