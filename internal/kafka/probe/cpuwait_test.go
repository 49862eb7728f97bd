package probe

import (
	"math"
	"testing"
	"time"
)

func TestWaitRatio(t *testing.T) {
	const s = time.Second
	before := Threads{1: {Ran: 5 * s, Waited: 1 * s}, 2: {Ran: 100 * s, Waited: 100 * s}}
	after := Threads{1: {Ran: 6 * s, Waited: 2 * s}, 3: {Ran: 1 * s, Waited: 3 * s}} // 2 has ended, 3 is new
	if got := after.WaitRatio(before); got == nil || math.Abs(*got-4.0/6) > 1e-9 {
		t.Errorf("the threads waited in %v of the time, want 4 of 6 s", got)
	}
	if got := before.WaitRatio(before); got != nil {
		t.Errorf("threads that could not run waited in %v of the time", *got)
	}
	if got := (Threads{1: {Ran: 1 * s}}).WaitRatio(before); got != nil {
		t.Errorf("a thread that ran for less than before: %v", *got)
	}
}
