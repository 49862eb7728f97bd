package bench

import (
	"errors"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

// What is not known of the processes is explained by its cause.
func TestWhyTheUsageIsNotKnown(t *testing.T) {
	used, died := 1.5, errors.New("process 1 (pid 7): it did not answer")
	for name, c := range map[string]struct {
		died error
		used *float64
		says string // empty: nothing
	}{
		"known":                   {nil, &used, ""},
		"one ended":               {died, nil, "of one that ended: process 1 (pid 7): it did not answer"},
		"nothing tells":           {nil, nil, "this operating system does not tell what a process uses"},
		"known, though one ended": {died, &used, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{atEnd: reading{died: c.died}}
			got := strings.Join(r.warningsOfTheUsage(&result.Run{Process: result.Process{CPUUserS: c.used}}), "; ")
			if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("it says %q, want %q", got, c.says)
			}
		})
	}
}
