package fault

import (
	"context"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// consumerFault is what a scenario does to the consumer of a number, in every group.
type consumerFault struct {
	groups []Consumers
	action string
	number int
}

func (f consumerFault) Name() string { return fmt.Sprintf("%s consumer %d", f.action, f.number) }

// Available wants a driver that can kill where it is to.
func (f consumerFault) Available() error {
	if f.action != scenario.Kill {
		return nil
	}
	for _, g := range f.groups {
		if err := g.CanKill(); err != nil {
			return err
		}
	}
	return nil
}

func (f consumerFault) Inject(context.Context) (done Step, err error) {
	var details []string
	var records int64
	for _, g := range f.groups {
		detail, lost, err := f.injectInto(g)
		if err != nil {
			return Step{}, err
		}
		if detail != "" {
			details = append(details, detail)
		}
		records += lost
	}
	done.What = strings.Join(details, "; ")
	switch f.action {
	case scenario.Kill:
		done.Data = map[string]any{"consumer": f.number, "state": "killed", "records": records}
	case scenario.Pause:
		done.Data = map[string]any{"consumer": f.number, "state": "paused"}
	}
	return done, nil
}

// injectInto does it to the consumer of a group. Lost are the records that it had been
// handed and that are nobody's now.
func (f consumerFault) injectInto(g Consumers) (detail string, lost int64, err error) {
	switch f.action {
	case scenario.Start:
		return "", 0, g.Start(f.number)
	case scenario.Stop:
		return "", 0, g.Leave(f.number)
	case scenario.Pause:
		detail, err = g.Pause(f.number)
		return detail, 0, err
	case scenario.Resume:
		return "", 0, g.Resume(f.number)
	case scenario.Restart:
		if err := g.Leave(f.number); err != nil {
			return "", 0, err
		}
		return "", 0, g.Start(f.number)
	}
	loss, err := g.Kill(f.number)
	if err != nil {
		return "", 0, err
	}
	if loss.OfQueue {
		return fmt.Sprintf("consumer %d had been handed %s that it had not settled", f.number,
			unit.Things(loss.Unsettled, "record")), loss.Unsettled, nil
	}
	return fmt.Sprintf("consumer %d had partitions %v, and had not committed %s records that it was handed",
		f.number, loss.Partitions, unit.Count(loss.Uncommitted)), loss.Uncommitted, nil
}

// Undo starts the consumer again, or resumes it.
func (f consumerFault) Undo() Fault {
	f.action = scenario.Opposite(f.action)
	return f
}
