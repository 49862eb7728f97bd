package backpressure_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"kafkabench.example/kafka-bench/backpressure"
)

func piped(t *testing.T, cfg backpressure.PipeConfig[int]) (out []int, shed []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		gate := hold(t, 3)
		in, client := make(chan int), make(chan int, 10)
		cfg.OnShed = func(item int, why backpressure.ShedReason) { shed = append(shed, fmt.Sprintf("%d by %s", item, why)) }
		ended := make(chan error, 1)
		go func() { ended <- backpressure.Pipe(t.Context(), gate.Gate, in, client, cfg) }()
		go func() {
			for i := range 6 {
				in <- i + 1
			}
			close(in)
		}()
		synctest.Wait()
		if len(client) != 3 {
			t.Errorf("%d went through a gate with room for 3", len(client))
		}
		gate.raise(10)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		close(client)
		for item := range client {
			out = append(out, item)
		}
		if got := gate.Admitted(); got != int64(len(out)) {
			t.Errorf("%d are admitted, %d were sent", got, len(out))
		}
	})
	return out, shed
}

func TestPipeDefers(t *testing.T) {
	if out, shed := piped(t, backpressure.PipeConfig[int]{}); !slices.Equal(out, []int{1, 2, 3, 4, 5, 6}) || shed != nil {
		t.Errorf("out %v, dropped %v", out, shed)
	}
}

func TestPipeSheds(t *testing.T) {
	out, shed := piped(t, backpressure.PipeConfig[int]{Excess: backpressure.Shed})
	if !slices.Equal(out, []int{1, 2, 3}) || !slices.Equal(shed, []string{"4 by gate", "5 by gate", "6 by gate"}) {
		t.Errorf("out %v, dropped %v", out, shed)
	}
}

func TestPipeDegrades(t *testing.T) {
	out, shed := piped(t, backpressure.PipeConfig[int]{
		Excess:  backpressure.Degrade,
		Degrade: func(item int) (int, bool) { return -item, item%5 == 0 },
	})
	// 5 is replaced and waits; when 6 comes there is room.
	if !slices.Equal(out, []int{1, 2, 3, -5, 6}) || !slices.Equal(shed, []string{"4 by degrade"}) {
		t.Errorf("out %v, dropped %v", out, shed)
	}
	if _, shed := piped(t, backpressure.PipeConfig[int]{Excess: backpressure.Degrade}); len(shed) != 3 {
		t.Errorf("without a hook dropped %v", shed)
	}
}
