package remote

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load"
)

func TestOpening(t *testing.T) {
	refused := errors.New("there is no such topic")
	opened := 0
	open := func(_ context.Context, a Assignment) (Load, error) {
		if opened++; a.Topic == "" {
			return Load{}, refused
		}
		return Load{Opened: Opened{Workers: len(a.Topic)}}, nil
	}
	h := NewHere(probe.Unknown(), open)
	wantErr := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	_, err := h.Snapshot(Want{})
	wantErr(err, "the part is not open")
	_, err = h.Open(t.Context(), Assignment{Version: Version + 1, Topic: "abc"})
	wantErr(err, fmt.Sprintf("protocol version %d, but the run has %d: the program file was replaced", Version, Version+1))
	if o, err := h.Open(t.Context(), Assignment{Version: Version, Topic: "abc"}); err != nil || o.Workers != 3 || opened != 1 {
		t.Errorf("%+v was opened, %v, after %d openings", o, err, opened)
	}
	_, err = h.Open(t.Context(), Assignment{Version: Version, Topic: "abcd"})
	wantErr(err, "the part is open already")

	h = NewHere(probe.Unknown(), open)
	if _, err := h.Open(t.Context(), Assignment{Version: Version}); !errors.Is(err, refused) {
		t.Errorf("it was refused with %v", err)
	}
	wantErr(h.Start(load.Zero{}), "the part is not open")
}
