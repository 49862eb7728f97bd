package campaign

import (
	"context"
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// Origin is the method, machines, cluster and versions of the campaign's first run. The zero value
// is the origin of a campaign without runs; every check passes.
type Origin struct {
	run   *result.Info
	fleet result.Fleet
	queue bool // its consumers share a queue
}

// Makers are what makes a campaign's runs.
type Makers struct {
	Host  result.Host  // of this process
	Fleet result.Fleet // none: this process makes the runs
}

// OriginOf returns the campaign's origin. The run that recorded it need not have finished, unless
// agents made the run: their number is recorded at the end.
func OriginOf(c *result.RecordedCampaign) Origin {
	for _, recorded := range c.Runs {
		if recorded == nil || recorded.Run.Run.Cluster.Kind == "" {
			continue
		}
		if fleet := recorded.Run.Fleet(); fleet.Agents > 0 || recorded.Run.Run.Placement == "" {
			return Origin{
				run: &recorded.Run.Run, fleet: fleet, queue: recorded.Run.Scenario.Get("consume.queue.engine") != "",
			}
		}
	}
	return Origin{}
}

// ErrOtherOrigin is wrapped by the checks of an Origin.
var ErrOtherOrigin = errors.New("its runs would not compare")

// CheckMethod returns an error if the campaign began with another method.
func (o Origin) CheckMethod() error {
	if o.run == nil {
		return nil
	}
	if method := (&result.Run{Run: *o.run}).Method(); method > 0 && method != result.Method {
		return fmt.Errorf("begun with method %d: begin a new campaign", method)
	}
	return nil
}

// CheckMakers returns an error if the campaign's runs were made by another number or placement of
// agents, by another number of senders, or, without agents, on a machine with another CPU model,
// number of CPUs or kernel. The error wraps ErrOtherOrigin.
func (o Origin) CheckMakers(now Makers) error {
	if o.run == nil {
		return nil
	}
	refuse := func(was, is, remedy string) error {
		return fmt.Errorf("the campaign was begun %s, and would go on with %s: %w; %sbegin a new campaign", was, is,
			ErrOtherOrigin, remedy)
	}
	was, asked := Makers{Host: o.run.Host, Fleet: o.fleet}, now.Fleet
	if o.queue && asked.Placement == bench.Own {
		asked.Placement = bench.Any // see bench.Placed
	}
	if was.Fleet != asked {
		return refuse("with "+was.Fleet.String(), now.Fleet.String(), "give the same agents, or ")
	}
	if was.Fleet.Agents == 0 && was.machine() != now.machine() {
		return refuse("on "+was.machine(), now.machine(), "")
	}
	return nil
}

func (m Makers) machine() string {
	h := m.Host
	return fmt.Sprintf("%d × %s with %s %s", h.CPUs, h.CPUModel, h.OS, h.Kernel)
}

// CheckCluster returns an error if the cluster has another kind than the campaign's, or is another
// existing cluster. The engine may start the cluster. The error wraps ErrOtherOrigin, or says why
// there is no cluster.
func (o Origin) CheckCluster(ctx context.Context, e Engine, s scenario.Scenario) error {
	if o.run == nil {
		return nil
	}
	starting, cancel := e.Bench.Starting(ctx)
	defer cancel()
	c, err := e.Source.For(starting, s)
	if err != nil {
		return err
	}
	return o.compare(c.Info())
}

func (o Origin) compare(now cluster.Info) error {
	was := o.run.Cluster
	if was.Kind == now.Kind && (now.Kind != cluster.KindExisting || was.ID == now.ID) {
		return nil
	}
	remedy := "--cluster " + was.Kind
	if was.Kind == cluster.KindExisting {
		remedy = "--brokers with the addresses of that cluster"
	}
	return fmt.Errorf("the campaign was begun on %s, and would go on with %s: %w; give %s, or begin a new campaign",
		place(was.Kind, was.ID), place(now.Kind, now.ID), ErrOtherOrigin, remedy)
}

// place omits the ID of a started cluster, which is new each time.
func place(kind, id string) string {
	switch kind {
	case cluster.KindExisting:
		return "the existing cluster " + id
	case cluster.KindEmbedded:
		return "the embedded broker"
	default:
		return "a local Apache Kafka"
	}
}

// Warnings returns the versions that differ from those with which the campaign began. driverVersion
// returns the version of a driver by its name.
func (o Origin) Warnings(tool result.Tool, driverVersion func(name string) string) (warnings []string) {
	if o.run == nil {
		return nil
	}
	warn := func(what, was, is string) {
		if was != is {
			warnings = append(warnings,
				fmt.Sprintf("the campaign was begun with %s %s, and goes on with %s: its runs may differ by that",
					what, was, is))
		}
	}
	warn("kafka-bench", versionOf(o.run.Tool), versionOf(tool))
	warn("the driver "+o.run.Driver.Name, o.run.Driver.Version, driverVersion(o.run.Driver.Name))
	return warnings
}

func versionOf(t result.Tool) string {
	if t.Revision == "" {
		return t.Version
	}
	return t.Version + " (" + t.Revision + ")"
}
