package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// Addresses of two clusters must not be mixed: a client starts from any of its addresses, and uses the brokers that
// the first answer names. So each address is asked with a client of its own.

// answer is what a broker said about its cluster.
type answer struct {
	address string
	meta    kadm.Metadata
}

// connectRetries is low: the address was dialled before, so a request that fails would probably fail again.
const connectRetries = 2

// askAll asks each address for its cluster. The slices have one element for each address.
func askAll(ctx context.Context, addrs []string, a access.Access) ([]answer, []error) {
	answers, errs := make([]answer, len(addrs)), dialAll(ctx, addrs, a)
	var wg sync.WaitGroup
	for i, addr := range addrs {
		if errs[i] == nil {
			wg.Go(func() { answers[i], errs[i] = ask(ctx, addr, a) })
		}
	}
	wg.Wait()
	return answers, errs
}

func ask(ctx context.Context, addr string, a access.Access) (answer, error) {
	client, err := newClient([]string{addr}, a, kgo.RequestRetries(connectRetries))
	if err != nil {
		return answer{}, err
	}
	defer client.Close()
	meta, err := kadm.NewClient(client).BrokerMetadata(ctx)
	if denied := denial(addr, a, err); denied != nil {
		return answer{}, denied
	}
	if err != nil {
		return answer{}, &Error{
			Kind: ErrUnreachable, What: addr + " accepts connections, but does not answer like a Kafka broker", Cause: err,
			Remedy: fmt.Sprintf("check that the port is a %s listener of Kafka", a.Protocol()),
		}
	}
	return answer{address: addr, meta: meta}, nil
}

// askAny returns the answers, and a sentence for each address without one. If no address answers, the error has the
// reason for each.
func askAny(ctx context.Context, addrs []string, a access.Access) (found []answer, silent []string, err error) {
	if len(addrs) == 0 {
		return nil, nil, &Error{Kind: ErrInput, What: "no brokers are named", Remedy: addressRemedy}
	}
	if err := CheckAddresses(addrs); err != nil {
		return nil, nil, err
	}
	answers, errs := askAll(ctx, addrs, a)
	for i, err := range errs {
		if err == nil {
			found = append(found, answers[i])
		} else {
			silent = append(silent, fmt.Sprintf("%s is not used: %v", addrs[i], err))
		}
	}
	if len(found) > 0 {
		return found, silent, nil
	}
	if said := firstSaid(errs); said != nil {
		return nil, nil, said
	}
	return nil, nil, &Error{
		Kind: ErrUnreachable, What: "no broker can be reached", Cause: errors.Join(errs...),
		Remedy: "check the addresses and that Kafka runs there",
	}
}

// firstSaid returns the first error that has a remedy of its own.
func firstSaid(errs []error) error {
	for _, err := range errs {
		var said *Error
		if errors.As(err, &said) {
			return said
		}
	}
	return nil
}

// askAdvertised asks the brokers that are not among found. Each must answer, and be of the same cluster.
func askAdvertised(ctx context.Context, advertised []string, found []answer, a access.Access) error {
	rest := slices.DeleteFunc(slices.Clone(advertised), func(addr string) bool {
		return slices.ContainsFunc(found, func(f answer) bool { return f.address == addr })
	})
	answers, errs := askAll(ctx, rest, a)
	if said := firstSaid(errs); said != nil {
		return said
	}
	if err := errors.Join(errs...); err != nil {
		return &Error{
			Kind: ErrUnreachable, What: "a broker can't be reached at the address that the cluster advertises for it",
			Cause:  err,
			Remedy: "correct advertised.listeners of that broker, or run where its address is known",
		}
	}
	return moved(answers, found[0].meta.Cluster)
}

func moved(answers []answer, id string) error {
	for _, got := range answers {
		if got.meta.Cluster != id {
			return &Error{
				Kind: ErrInput, What: fmt.Sprintf("the cluster %s advertises a broker at %s, and a broker of the cluster %s answers there",
					id, got.address, got.meta.Cluster),
				Remedy: "correct advertised.listeners of that broker, or what leads to its address; nothing was sent",
			}
		}
	}
	return nil
}

// VerifyID asks each address of a cluster again, and returns those that answer. Another cluster at any of them is an
// ErrInput; if none answers, the error is an ErrUnreachable.
func VerifyID(ctx context.Context, brokers []string, id string, a access.Access) (verified []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	found, _, err := askAny(ctx, brokers, a)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		verified = append(verified, f.address)
	}
	return verified, moved(found, id)
}

func addressesOf(brokers kadm.BrokerDetails) (addrs []string) {
	for _, b := range brokers {
		addrs = append(addrs, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
	}
	return addrs
}

// The versions are nil if the brokers do not report them.
func versionsOf(ctx context.Context, brokers []string, a access.Access) (kadm.BrokersApiVersions, error) {
	client, err := newClient(brokers, a, kgo.RequestRetries(connectRetries))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	versions, err := kadm.NewClient(client).ApiVersions(ctx)
	if err != nil {
		return nil, nil //nolint:nilerr // they only describe the cluster
	}
	return versions, nil
}

// checkID refuses answers of different clusters, and of another cluster than the expected one.
func checkID(found []answer, expectID string) error {
	id := found[0].meta.Cluster
	for _, f := range found {
		if f.meta.Cluster == id {
			continue
		}
		var each []string
		for _, f := range found {
			each = append(each, fmt.Sprintf("%s of %s", f.address, f.meta.Cluster))
		}
		return &Error{
			Kind: ErrInput, What: "the addresses lead to different clusters: " + strings.Join(each, ", "),
			Remedy: "name only brokers of the cluster that you mean",
		}
	}
	if expectID == "" || expectID == id {
		return nil
	}
	var addrs []string
	for _, f := range found {
		addrs = append(addrs, f.address)
	}
	return &Error{
		Kind: ErrInput, What: fmt.Sprintf("the cluster at %v has the ID %s, not %s", addrs, id, expectID),
		Remedy: "check the addresses, or name that ID with --cluster-id",
	}
}

// mustBeHere refuses a cluster with an address that is not loopback.
func mustBeHere(id string, addrs []string) error {
	for _, addr := range addrs {
		if !OnThisMachine(addr) {
			host, _, _ := net.SplitHostPort(addr)
			return &Error{
				Kind: ErrInput, What: fmt.Sprintf("the cluster %s is not on this machine (%s), and must be named by its ID", id, host),
				Remedy: "if it is the one that you mean, add --cluster-id " + id,
			}
		}
	}
	return nil
}
