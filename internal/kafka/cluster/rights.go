package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CheckRights checks that the run's user may write to the topic if the run produces, and read if it consumes. The
// error is of kind ErrRefused. A cluster that does not report rights passes (Kafka reports them since 2.3,
// KIP-430).
func (a *Admin) CheckRights(ctx context.Context, topic Topic, produces, consumes bool) error {
	entry := kmsg.NewMetadataRequestTopic()
	entry.Topic = &topic.Name
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, entry)
	req.IncludeTopicAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return unanswered("report the rights on the topic "+topic.Name, err)
	}
	if len(resp.Topics) != 1 {
		return nil
	}
	lacking := lackingRights(resp.Topics[0].AuthorizedOperations, produces, consumes)
	if len(lacking) == 0 {
		return nil
	}
	return &Error{
		Kind: ErrRefused, What: fmt.Sprintf("this user may not %s the topic %q", strings.Join(lacking, " or "),
			topic.Name),
		Remedy: rightsRemedy,
	}
}

// allowed is the bit field of a metadata response; without DESCRIBE in it, the rights are unknown.
func lackingRights(allowed int32, produces, consumes bool) (lacking []string) {
	may := func(op kmsg.ACLOperation) bool { return allowed&(1<<op) != 0 }
	if allowed < 0 || !may(kmsg.ACLOperationDescribe) {
		return nil
	}
	if produces && !may(kmsg.ACLOperationWrite) {
		lacking = append(lacking, "WRITE to")
	}
	if consumes && !may(kmsg.ACLOperationRead) {
		lacking = append(lacking, "READ")
	}
	return lacking
}
