package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Uses is what a run does with its topic and its groups, so that its user needs the rights.
type Uses struct {
	Produces bool
	Groups   []string // that it joins, and deletes if Deletes is set; empty if it reads by hand or not at all
	Consumes bool
	Deletes  bool // the topic, unless it exists already
}

// CheckRights checks that the run's user has the rights that the run needs, before a topic is created. The error is
// of kind ErrRefused. A cluster that does not report rights passes (Kafka reports them since 2.3, KIP-430). CREATE is
// not checked: the user may have it on the cluster or on the topic.
func (a *Admin) CheckRights(ctx context.Context, topic Topic, uses Uses) error {
	allowed, err := a.topicRights(ctx, topic.Name)
	if err != nil {
		return err
	}
	lacking := lackingRights(allowed, fmt.Sprintf("the topic %q", topic.Name), []right{
		{kmsg.ACLOperationWrite, "WRITE to", uses.Produces}, {kmsg.ACLOperationRead, "READ", uses.Consumes},
		{kmsg.ACLOperationDelete, "DELETE", uses.Deletes && !topic.Existing},
	})
	for _, group := range uses.Groups {
		allowed, err := a.groupRights(ctx, group)
		if err != nil {
			return err
		}
		lacking = append(lacking, lackingRights(allowed, fmt.Sprintf("the group %q", group), []right{
			{kmsg.ACLOperationRead, "READ", true}, {kmsg.ACLOperationDelete, "DELETE", uses.Deletes},
		})...)
	}
	if len(lacking) == 0 {
		return nil
	}
	return &Error{Kind: ErrRefused, What: "this user may not " + strings.Join(lacking, ", nor "), Remedy: rightsRemedy}
}

type right struct {
	operation kmsg.ACLOperation
	word      string
	needed    bool
}

const (
	unknownRights = -1 << 31 // Kafka's own value
	noRights      = 0
)

func (a *Admin) topicRights(ctx context.Context, name string) (int32, error) {
	entry := kmsg.NewMetadataRequestTopic()
	entry.Topic = &name
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, entry)
	req.IncludeTopicAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, a.client)
	switch {
	case err != nil:
		return 0, unanswered("report the rights on the topic "+name, err)
	case len(resp.Topics) != 1:
		return unknownRights, nil
	case errors.Is(kerr.ErrorForCode(resp.Topics[0].ErrorCode), kerr.TopicAuthorizationFailed):
		return noRights, nil
	}
	return known(resp.Topics[0].AuthorizedOperations), nil
}

// groupRights asks with a version that reports the rights on a group that does not exist yet.
func (a *Admin) groupRights(ctx context.Context, name string) (int32, error) {
	versions := kversion.Tip()
	versions.SetMaxKeyVersion(int16(kmsg.DescribeGroups), 5)
	client, err := kgo.NewClient(append(a.client.Opts(), kgo.MaxVersions(versions))...)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = []string{name}, true
	ctx, cancel := context.WithTimeout(ctx, groupTimeout)
	defer cancel()
	resp, err := req.RequestWith(ctx, client)
	for errors.Is(err, kerr.CoordinatorNotAvailable) && ctx.Err() == nil { // before a cluster's first group
		select {
		case <-ctx.Done():
		case <-time.After(groupPoll):
			resp, err = req.RequestWith(ctx, client)
		}
	}
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return noRights, nil
	case err != nil:
		return 0, unanswered("report the rights on the group "+name, err)
	case len(resp.Groups) != 1:
		return unknownRights, nil
	case errors.Is(kerr.ErrorForCode(resp.Groups[0].ErrorCode), kerr.GroupAuthorizationFailed):
		return noRights, nil
	case resp.Groups[0].ErrorCode != 0:
		return unknownRights, nil
	}
	return known(resp.Groups[0].AuthorizedOperations), nil
}

// known returns unknownRights for a bit field without DESCRIBE, which every other right implies.
func known(allowed int32) int32 {
	if allowed < 0 || allowed&(1<<kmsg.ACLOperationDescribe) == 0 {
		return unknownRights
	}
	return allowed
}

// lackingRights returns for instance "WRITE to the topic x". allowed is the bit field of a response.
func lackingRights(allowed int32, resource string, rights []right) (lacking []string) {
	for _, r := range rights {
		if r.needed && allowed != unknownRights && allowed&(1<<r.operation) == 0 {
			lacking = append(lacking, r.word+" "+resource)
		}
	}
	return lacking
}
