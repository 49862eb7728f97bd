package judge

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

func (v verdict) warningsOfTheFaults() (warnings []string) {
	warnings = slices.Clone(v.Faults.NotInDrain)
	if v.Interrupted {
		return warnings
	}
	for _, f := range v.Scenario.Faults {
		if int64(f.At) >= v.EndNs {
			warnings = append(warnings, fmt.Sprintf("%s at %s did not happen: the measured window had ended", f, f.At))
		}
	}
	return warnings
}

func (e *Evidence) killed() string {
	var names []string
	for _, f := range e.Faults.Injected {
		if f.Name == scenario.Kill && strings.HasPrefix(f.Target, scenario.ConsumerTarget) && !slices.Contains(names, f.Target) {
			names = append(names, f.Target)
		}
	}
	return strings.Join(names, " and ")
}

func (v verdict) duplicatesWarning() string {
	const format = "%s deliveries were duplicates"
	if who := v.killed(); who != "" {
		return format + ", as is to be expected after a kill: what " + who + " had not committed was delivered again"
	}
	switch {
	case len(v.brokersHit()) == 0:
		return format
	case v.Scenario.Load.Idempotent:
		return format + ", which a broker's fault can cause: what consumers had not committed when they lost it was delivered again"
	}
	return format + ", which a broker's fault can cause: records whose acknowledgement was lost were sent again, which idempotent producing avoids"
}

func (e *Evidence) brokersHit() (all []string) {
	for _, f := range e.Faults.Injected {
		who := f.Target
		if f.Hit != "" {
			who = f.Hit
		}
		if HitsBroker(f) && !slices.Contains(all, who) {
			all = append(all, who)
		}
	}
	return all
}

func (v verdict) lostWarning() string {
	hit := strings.Join(v.brokersHit(), " and ")
	acks := v.Scenario.Load.Acks
	switch {
	case hit == "":
		return "%s acknowledged records were lost"
	case acks == "all":
		return "%s acknowledged records were LOST, which acks all should prevent when " + hit + " fails: each was in every replica in sync when it was acknowledged"
	case acks == "0":
		return "%s records were lost when " + hit + " failed: with acks 0 no broker had acknowledged them"
	}
	return "%s acknowledged records were lost when " + hit + " failed: with acks 1 only the leader had them, and its successor did not"
}

// HitsBroker reports whether a fault hit a broker.
func HitsBroker(f result.Fault) bool { return strings.Contains(f.Target+f.Hit, "broker") }
