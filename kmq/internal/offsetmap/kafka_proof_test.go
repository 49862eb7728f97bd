//go:build proof

package offsetmap

import (
	"fmt"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

func TestLimitOfKafka(t *testing.T) {
	stopsAtTheLimit(t, clustertest.Own(t, 1, map[string]string{limitKey: fmt.Sprint(shortMetadata)}))
}
