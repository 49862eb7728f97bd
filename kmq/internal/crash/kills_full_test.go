//go:build full

package crash

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// for each engine; -kills and make soak do more
const killsOnKafka = 1

func TestInvariant1AtLeastOnceOnKafka(t *testing.T) {
	t.Parallel()
	k := clustertest.Shared(t)
	for _, w := range ways {
		if !strings.Contains(w.name, *onlyWay) || *kills == 0 && w.name != w.engine {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			v := newWorld(t, k, 1, w.way)
			v.launch = v.process
			if *kills > 0 {
				v.campaign(w.way, w.steps, *kills)
			} else {
				v.campaign(w.way, []step.Step{step.Acked}, killsOnKafka)
			}
		})
	}
}
