package probe

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

func TestTopicSize(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(2, "t"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	sizes := [][]int64{{1000, 500}, {900, 500}, {1000, 450}}
	cluster.ControlKey(int16(kmsg.DescribeLogDirs), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		topic := kmsg.NewDescribeLogDirsResponseDirTopic()
		topic.Topic = "t"
		for id, size := range sizes[cluster.CurrentNode()] {
			p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
			p.Partition, p.Size = int32(id), size
			topic.Partitions = append(topic.Partitions, p)
		}
		dir := kmsg.NewDescribeLogDirsResponseDir()
		dir.Dir, dir.Topics = "/data", []kmsg.DescribeLogDirsResponseDirTopic{topic}
		resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
		resp.Dirs = append(resp.Dirs, dir)
		return resp, nil, true
	})
	r, err := NewLagReader(cluster.ListenAddrs(), access.Access{}, "t", nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	size, err := r.TopicSize(t.Context())
	if want := (TopicSize{Bytes: 4350, Replicas: 3, LeadBytes: 1500}); err != nil || size != want {
		t.Errorf("%+v, %v; want %+v", size, err, want)
	}
	if behind := size.BehindBytes(); behind != 150 {
		t.Errorf("the followers are %d bytes behind, want 150", behind)
	}
}
