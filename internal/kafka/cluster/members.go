package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// PutOut removes all members from a group, as if each had left: killed members would prevent the
// group's deletion until their session timeout.
func (a *Admin) PutOut(ctx context.Context, group string) error {
	ctx, cancel := context.WithTimeout(ctx, groupTimeout)
	defer cancel()
	if err := errors.Join(a.putOutClassic(ctx, group), a.putOutConsumer(ctx, group)); err != nil {
		return refusedOrUnanswered(fmt.Sprintf("the members of the group %q can't be removed", group), err)
	}
	return nil
}

func (a *Admin) putOutClassic(ctx context.Context, group string) error {
	described, err := a.kadm.DescribeGroups(ctx, group)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = group
	for _, m := range described[group].Members {
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID = m.MemberID
		req.Members = append(req.Members, member)
	}
	if len(req.Members) == 0 { // the group is empty, or of the other protocol
		return nil
	}
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}

// leavingEpoch is the epoch of a heartbeat by which a member leaves (KIP-848).
const leavingEpoch = -1

func (a *Admin) putOutConsumer(ctx context.Context, group string) error {
	described, err := a.kadm.DescribeConsumerGroups(ctx, group)
	if err != nil { // a broker without the protocol has no such group
		return nil
	}
	var failed error
	for _, m := range described[group].Members {
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Group, req.MemberID, req.MemberEpoch = group, m.MemberID, leavingEpoch
		resp, err := req.RequestWith(ctx, a.client)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		if !errors.Is(err, kerr.UnknownMemberID) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
