package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// denial returns nil if the cause of err is not a rejection.
func denial(who string, a access.Access, err error) error {
	d := a.Explain(err)
	if d == nil {
		return nil
	}
	kind := ErrUnreachable
	if d.Answered {
		kind = ErrRefused
	}
	return &Error{Kind: kind, What: who + ": " + d.Reason, Cause: d.Cause, Remedy: d.Remedy}
}

var authorization = []*kerr.Error{
	kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	kerr.TransactionalIDAuthorizationFailed,
}

// Denied explains a client's error as ErrRefused or ErrUnreachable if the cluster rejected the client or denied the
// run's user. It returns any other error unchanged.
func Denied(c Cluster, who string, err error) error {
	var said *Error
	if err == nil || errors.As(err, &said) {
		return err
	}
	if i := slices.IndexFunc(authorization, func(code *kerr.Error) bool { return errors.Is(err, code) }); i >= 0 {
		return &Error{Kind: ErrRefused, What: fmt.Sprintf("%s: the cluster does not allow it", who),
			Cause: authorization[i], Remedy: rightsRemedy}
	}
	var handshake *access.HandshakeError
	// Only these errors show a rejection. After Connect, a lost connection does not.
	if errors.As(err, &handshake) || errors.Is(err, kerr.SaslAuthenticationFailed) {
		return denial(who, AccessTo(c), err)
	}
	return err
}

const rightsRemedy = "allow this user CREATE, READ, WRITE and DELETE on the topic, and READ and DELETE on the group; a run " +
	"names both kafka-bench-…, so a prefixed ACL serves (kafka-acls --resource-pattern-type prefixed)"
