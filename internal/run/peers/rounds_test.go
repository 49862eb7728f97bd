package peers

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

type turns struct {
	taken  []string
	failAt int // from 1; 0 never fails
}

var errTurn = errors.New("it is over")

func (t *turns) take(name string) (*result.Run, error) {
	t.taken = append(t.taken, name)
	if len(t.taken) == t.failAt {
		return nil, errTurn
	}
	r := &result.Run{Load: result.Load{Acked: 5000, AckedPerS: 1000}}
	r.Run.Host.CPUs = len(t.taken)
	return r, nil
}

func (t *turns) Ours(context.Context) (*result.Run, error) { return t.take(Ours) }

func (t *turns) Theirs(_ context.Context, tool string, _ func(context.Context) (*Made, error)) (*result.Run, error) {
	return t.take(tool)
}

func TestRounds(t *testing.T) {
	round := []string{Ours, Producer, Consumer}
	for failAt, want := range map[int][]string{
		0: append(append([]string{}, round...), round...),
		1: {Ours},
		5: {Ours, Producer, Consumer, Ours, Producer},
	} {
		t.Run(fmt.Sprint(failAt), func(t *testing.T) {
			took := &turns{failAt: failAt}
			var pairs []*Pair
			r := &Rounds{Scenario: scenario.Defaults(), Repeat: 2, Turns: took, Pair: func(round int) *Pair {
				if round != len(pairs) {
					t.Errorf("round %d comes after %d others", round, len(pairs))
				}
				pairs = append(pairs, &Pair{})
				return pairs[round]
			}}
			if err := r.Make(context.Background()); errors.Is(err, errTurn) != (failAt > 0) {
				t.Errorf("err = %v", err)
			}
			if !reflect.DeepEqual(took.taken, want) {
				t.Errorf("the turns were %q, want %q", took.taken, want)
			}
			if failAt == 0 && pairs[1].Host.CPUs != 4 {
				t.Errorf("the second pair runs on %+v, want the machine of our second run", pairs[1].Host)
			}
			if n := len(r.Runs[0]); n != len(took.taken)/3 || n != len(r.Runs[2]) {
				t.Errorf("%d of our runs are compared with %d of theirs", n, len(r.Runs[2]))
			}
		})
	}
}
