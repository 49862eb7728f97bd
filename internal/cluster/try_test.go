package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	h, _ := UserHome()
	for _, n := range []int{1, 1, 3} {
		t0 := time.Now()
		k, err := h.StartKafka(context.Background(), KafkaOptions{Brokers: n, Progress: func(s string) { fmt.Println(time.Since(t0), s) }})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("ready", time.Since(t0), k.Bootstrap(), k.Processes())
		t0 = time.Now()
		fmt.Println(k.Stop(context.Background()), "stop", time.Since(t0))
	}
}
