//go:build full

package offsetmap

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

func TestKafkaTellsItsLimit(t *testing.T) {
	k := clustertest.Shared(t)
	topic := fmt.Sprintf("limit-%d", time.Now().UnixNano())
	adm := kadm.NewClient(prepare(t, k, topic, 1, 1))
	e, _ := open(t, k, kafkaConfig(k, topic))
	for n, want := range map[int]error{e.limit: nil, e.limit + 1: kerr.OffsetMetadataTooLarge} {
		var offsets kadm.Offsets
		offsets.Add(kadm.Offset{Topic: topic, At: 0, LeaderEpoch: -1, Metadata: strings.Repeat("x", n)})
		answers, err := adm.CommitOffsets(ctx, topic+"-other", offsets)
		must(t, err)
		if err := answers.Error(); !errors.Is(err, want) {
			t.Errorf("metadata of %d characters: %v, want %v", n, err, want)
		}
	}
}
