package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// CheckNew fails if the cluster already has one of these topics or groups, of any protocol; the
// error names all that exist. The controller answers for topics, because a broker may still list a
// deleted one.
func (a *Admin) CheckNew(ctx context.Context, topics, groups []string) error {
	var there []string
	if len(topics) > 0 {
		asked, err := a.kadm.ValidateCreateTopics(ctx, 1, 1, nil, topics...)
		if err != nil {
			return unanswered("list its topics", err)
		}
		for _, name := range topics {
			if errors.Is(asked[name].Err, kerr.TopicAlreadyExists) {
				there = append(there, fmt.Sprintf("the topic %q", name))
			}
		}
	}
	if len(groups) > 0 {
		listed, err := a.kadm.ListGroups(ctx)
		if err != nil {
			return unanswered("list its groups", err)
		}
		for _, name := range groups {
			if _, is := listed[name]; is {
				there = append(there, fmt.Sprintf("the group %q", name))
			}
		}
	}
	if len(there) == 0 {
		return nil
	}
	remedy := "choose another consume.group"
	if strings.HasPrefix(there[0], "the topic") {
		remedy = "choose another topic.name or consume.group, or name an existing topic in topic.existing"
	}
	return &Error{
		Kind: ErrInput, What: "the cluster already has " + strings.Join(there, ", and "),
		Remedy: remedy,
	}
}
