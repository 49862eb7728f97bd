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

func (f consumerFault) Inject(context.Context) (string, error) {
	var details []string
	for _, g := range f.groups {
		detail, err := f.injectInto(g)
		if err != nil {
			return "", err
		}
		if detail != "" {
			details = append(details, detail)
		}
	}
	return strings.Join(details, "; "), nil
}

func (f consumerFault) injectInto(g Consumers) (detail string, err error) {
	switch f.action {
	case scenario.Start:
		return "", g.Start(f.number)
	case scenario.Stop:
		return "", g.Leave(f.number)
	case scenario.Pause:
		return g.Pause(f.number)
	case scenario.Resume:
		return "", g.Resume(f.number)
	case scenario.Restart:
		if err := g.Leave(f.number); err != nil {
			return "", err
		}
		return "", g.Start(f.number)
	}
	loss, err := g.Kill(f.number)
	if err != nil {
		return "", err
	}
	if loss.OfQueue {
		return fmt.Sprintf("consumer %d had been handed %s that it had not settled", f.number,
			unit.Things(loss.Unsettled, "record")), nil
	}
	return fmt.Sprintf("consumer %d had partitions %v, and had not committed %s records that it was handed",
		f.number, loss.Partitions, unit.Count(loss.Uncommitted)), nil
}

// Undo starts the consumer again, or resumes it.
func (f consumerFault) Undo() Fault {
	f.action = scenario.Opposite(f.action)
	return f
}
