package judge

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestCPUPerRecordOfAllParts(t *testing.T) {
	of := func(user, system *float64) Part {
		return Part{Machine: Machine{Process: result.Process{CPUUserS: user, CPUSystemS: system}}}
	}
	known := []Part{of(new(1.0), new(0.5)), of(new(2.0), new(0.5))}
	for name, c := range map[string]struct {
		parts []Part
		acked int64
		want  *float64 // in nanoseconds
	}{
		"known":          {known, 8_000_000, new(500.0)},
		"nothing acked":  {known, 0, nil},
		"one is unknown": {append(known, of(nil, nil)), 8_000_000, nil},
	} {
		e := &Evidence{}
		e.Sent.Sent[0].AckedInWindow, e.Sent.Sent[1].AckedInWindow = c.acked/4, c.acked-c.acked/4
		e.Join(c.parts, make([]string, len(c.parts)))
		if got := e.Machine.Process.CPUPerRecord; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
