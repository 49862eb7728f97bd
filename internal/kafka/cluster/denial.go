package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// denial says why the brokers at an address, or whoever asked, were turned away,
// with the remedy; nil where err is about something else.
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

// authorization are the errors that a change of ACLs cures.
var authorization = []*kerr.Error{
	kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	kerr.TransactionalIDAuthorizationFailed,
}

// Denied finds out whether an error of a run's client means that the cluster does
// not let it in, or does not allow the run's user what it does: then it returns
// one of kind ErrRefused or ErrUnreachable that names the remedy. Any other error
// is returned as it is.
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
	// a lost connection says nothing, later than Connect
	if errors.As(err, &handshake) || errors.Is(err, kerr.SaslAuthenticationFailed) {
		return denial(who, AccessTo(c), err)
	}
	return err
}

// rightsRemedy is where the rights that a run needs are listed.
const rightsRemedy = "allow this user READ on the group and READ, WRITE and DESCRIBE on the topic; a run names both kafka-bench-…, " +
	"so a prefixed ACL serves (kafka-acls --resource-pattern-type prefixed)"
