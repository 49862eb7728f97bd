//go:build full

package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

func TestHeaderStampsOnKafka(t *testing.T) {
	t.Parallel()
	k, w := clustertest.Shared(t), newWitness()
	s := smallScenario(t, "header", append([]string{"load.acks=all", "load.compression=zstd"}, sixteenBytes...)...)
	cfg := withDriver(config(t, k, s), w.watch(franz.New()))
	cfg.KeepTopics = true
	r := run(t, cfg)
	wantAsLogged(t, k, r, w)
	wantCount(t, "unique", r.Run.Delivery.Unique, 1000)
	wantCount(t, "timed", histograms(t, r)["e2e_response_time"].Count(), 1000)
	removeTopics(t, k, r)
}

// The producers are in two child processes, which read the file, too.
func TestRecordsOfAFileOnKafka(t *testing.T) {
	t.Parallel()
	s, content := ofFile(t, "file", "load.acks=all", "load.compression=zstd", "load.processes=2")
	r := runOfFile(t, clustertest.Shared(t), s, content)
	if len(r.Run.Compression) == 0 {
		t.Error("the codecs were not measured")
	}
}
