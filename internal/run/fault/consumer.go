package fault

import (
	"context"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

type consumerFault struct {
	groups []Consumers
	names  []string // nil for one group
	action string
	number int
}

func (f consumerFault) Name() string { return fmt.Sprintf("%s consumer %d", f.action, f.number) }

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
	var losses []snapshot.Loss
	for _, g := range f.groups {
		detail, lost, err := f.injectInto(g)
		if err != nil {
			return Step{}, err
		}
		if detail != "" {
			details = append(details, detail)
		}
		losses = append(losses, lost)
	}
	done.What = strings.Join(details, "; ")
	switch f.action {
	case scenario.Kill:
		done.Data = f.dataOf(losses)
	case scenario.Pause:
		done.Data = map[string]any{"consumer": f.number, "state": "paused"}
	}
	return done, nil
}

// dataOf returns the data of a kill's event. For one group, the data is the consumer's partitions,
// and the number of records that it was handed and had not committed or settled. For several
// groups, it is the sum of these records, and the partitions and records of each group. A queue has
// no partitions.
func (f consumerFault) dataOf(losses []snapshot.Loss) map[string]any {
	each := make([]map[string]any, len(losses))
	var records int64
	for i, loss := range losses {
		lost := loss.Uncommitted + loss.Unsettled
		records += lost
		each[i] = map[string]any{"records": lost}
		if !loss.OfQueue {
			each[i]["partitions"] = append([]int32{}, loss.Partitions...)
		}
		if i < len(f.names) {
			each[i]["group"] = f.names[i]
		}
	}
	data := map[string]any{"records": records}
	if len(each) == 1 {
		data = each[0]
	} else {
		data["groups"] = each
	}
	data["consumer"], data["state"] = f.number, "killed"
	return data
}

func (f consumerFault) injectInto(g Consumers) (detail string, lost snapshot.Loss, err error) {
	switch f.action {
	case scenario.Start:
		return "", lost, g.Start(f.number)
	case scenario.Stop:
		return "", lost, g.Leave(f.number)
	case scenario.Pause:
		detail, err = g.Pause(f.number)
		return detail, lost, err
	case scenario.Resume:
		return "", lost, g.Resume(f.number)
	case scenario.Restart:
		if err := g.Leave(f.number); err != nil {
			return "", lost, err
		}
		return "", lost, g.Start(f.number)
	}
	lost, err = g.Kill(f.number)
	if err != nil {
		return "", lost, err
	}
	if lost.OfQueue {
		return fmt.Sprintf("consumer %d had been handed %s that it had not settled", f.number,
			unit.Things(lost.Unsettled, "record")), lost, nil
	}
	return fmt.Sprintf("consumer %d had partitions %v, and had not committed %s records that it was handed",
		f.number, lost.Partitions, unit.Count(lost.Uncommitted)), lost, nil
}

func (f consumerFault) Undo() Fault {
	f.action = scenario.Opposite(f.action)
	return f
}
