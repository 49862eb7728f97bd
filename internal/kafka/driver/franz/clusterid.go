package franz

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const clusterIDTimeout = 10 * time.Second

// checkCluster asks for metadata without topics, and returns an error unless it is of the cluster with this ID. Any
// cluster has the ID "".
func checkCluster(client *kgo.Client, id string) error {
	if id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), clusterIDTimeout)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("reading the ID of the cluster: %w", err)
	}
	if resp.ClusterID == nil || *resp.ClusterID != id {
		found := "without an ID"
		if resp.ClusterID != nil {
			found = *resp.ClusterID
		}
		return fmt.Errorf("the brokers are of the cluster %s, not %s; check what leads to their addresses", found, id)
	}
	return nil
}
