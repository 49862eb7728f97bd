package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// connectTimeout bounds how long Connect looks for a cluster.
const connectTimeout = 15 * time.Second

// dialTimeout bounds one attempt to reach one address.
const dialTimeout = 5 * time.Second

// connectRetries is how often Connect repeats a question. The addresses have
// been reached by then: what fails now mostly fails again, and somebody waits.
const connectRetries = 2

// Existing is a cluster that somebody else runs. Stop does nothing to it.
type Existing struct {
	bootstrap []string
	info      Info
	access    access.Access
	ids       []int32  // of the brokers
	metrics   []string // their endpoints, in the order of the IDs
}

// Connect finds the cluster at the addresses in bootstrap (host:port) and makes
// sure that every one of its brokers can be reached from here, and lets this
// process in by a.
//
// expectID is the cluster ID that the caller means to load. It may be empty for
// a cluster of this machine; for any other it is required, so that nobody loads
// a cluster by a mistyped address. Errors are of kind ErrUnreachable, or of kind
// ErrInput if the ID is missing or another, or ErrRefused if a broker says no to
// who this process says it is.
func Connect(ctx context.Context, bootstrap []string, expectID string, a access.Access) (*Existing, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	meta, version, err := reach(ctx, bootstrap, a)
	if err != nil {
		return nil, err
	}
	if err := checkID(meta, bootstrap, expectID); err != nil {
		return nil, err
	}
	return newExisting(bootstrap, a, meta, version), nil
}

// OnThisMachine reports whether an address, host:port, is of this machine.
func OnThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

// Attach is Connect for a process that works for another one, which makes sure of the ID.
func Attach(ctx context.Context, bootstrap []string, a access.Access) (*Existing, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	meta, version, err := reach(ctx, bootstrap, a)
	if err != nil {
		return nil, err
	}
	return newExisting(bootstrap, a, meta, version), nil
}

func newExisting(bootstrap []string, a access.Access, meta kadm.Metadata, version string) *Existing {
	return &Existing{bootstrap: bootstrap, access: a, ids: slices.Sorted(slices.Values(meta.Brokers.NodeIDs())),
		info: Info{
			Kind: KindExisting, ID: meta.Cluster, Version: version, Brokers: len(meta.Brokers),
		}}
}

// Reach makes sure of what Connect makes sure of, but for the cluster's ID: it is for
// whoever looks at a cluster, or works for it, and puts no load on it.
func Reach(ctx context.Context, bootstrap []string, a access.Access) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, _, err := reach(ctx, bootstrap, a)
	return err
}

// reach finds the cluster, and guesses its version.
func reach(ctx context.Context, bootstrap []string, a access.Access) (meta kadm.Metadata, version string, err error) {
	reached, err := dialAny(ctx, bootstrap, a)
	if err != nil {
		return meta, "", err
	}
	client, err := newClient(reached, a, kgo.RequestRetries(connectRetries))
	if err != nil {
		return meta, "", err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	meta, err = admin.BrokerMetadata(ctx)
	if denied := denial(strings.Join(reached, ", "), a, err); denied != nil {
		return meta, "", denied
	}
	if err != nil {
		return meta, "", &Error{
			Kind: ErrUnreachable,
			What: fmt.Sprintf("%v accepts connections, but does not answer like a Kafka broker", reached), Cause: err,
			Remedy: fmt.Sprintf("check that the port is a %s listener of Kafka", a.Protocol()),
		}
	}
	if err := dialAdvertised(ctx, meta.Brokers, a); err != nil {
		return meta, "", err
	}
	return meta, guessVersion(ctx, admin), nil
}

// Bootstrap returns the addresses that the caller named.
func (e *Existing) Bootstrap() []string { return e.bootstrap }

// Info describes the cluster. Version is a guess from the API versions that the
// brokers offer, for instance "v4.1".
func (e *Existing) Info() Info { return e.info }

// Access is how the cluster lets this process in.
func (e *Existing) Access() access.Access { return e.access }

// Meter says where the brokers tell about themselves, in the order of their IDs. An
// error is of kind ErrInput.
func (e *Existing) Meter(endpoints []string) error {
	if len(endpoints) != len(e.ids) {
		return &Error{
			Kind: ErrInput, What: fmt.Sprintf("%d endpoints of metrics for %d brokers", len(endpoints), len(e.ids)),
			Remedy: fmt.Sprintf("name one for each broker, in the order of their IDs: %v", e.ids),
		}
	}
	for _, endpoint := range endpoints {
		if u, err := url.Parse(endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return &Error{Kind: ErrInput, What: fmt.Sprintf("%q is no endpoint of metrics", endpoint),
				Remedy: "write http://host:port/metrics"}
		}
	}
	e.metrics = endpoints
	return nil
}

// MetricsEndpoints are those that Meter was given.
func (e *Existing) MetricsEndpoints() []MetricsEndpoint {
	var endpoints []MetricsEndpoint
	for i, address := range e.metrics {
		endpoints = append(endpoints, MetricsEndpoint{ID: e.ids[i], URL: address})
	}
	return endpoints
}

// Stop does nothing: the cluster is not ours.
func (e *Existing) Stop(context.Context) error { return nil }

// dialAny returns the addresses that can be reached, or what is wrong with each
// if none can.
func dialAny(ctx context.Context, addrs []string, a access.Access) ([]string, error) {
	if len(addrs) == 0 {
		return nil, &Error{Kind: ErrInput, What: "no brokers are named",
			Remedy: "write brokers as host:port, separated by commas"}
	}
	errs := dialAll(ctx, addrs, a)
	var reached []string
	for i, err := range errs {
		if err == nil {
			reached = append(reached, addrs[i])
			continue
		}
		if _, _, syntax := net.SplitHostPort(addrs[i]); syntax != nil {
			return nil, &Error{Kind: ErrInput, What: fmt.Sprintf("broker %q", addrs[i]), Cause: syntax,
				Remedy: "write brokers as host:port, separated by commas"}
		}
	}
	if len(reached) > 0 {
		return reached, nil
	}
	if denied := firstDenial(errs); denied != nil {
		return nil, denied
	}
	return nil, &Error{
		Kind: ErrUnreachable, What: "no broker can be reached", Cause: errors.Join(errs...),
		Remedy: "check the addresses and that Kafka runs there",
	}
}

// firstDenial returns the first error that says why this process was not let in,
// where it says that: the address is right then, and the remedy another.
func firstDenial(errs []error) error {
	for _, err := range errs {
		var denied *Error
		if errors.As(err, &denied) {
			return denied
		}
	}
	return nil
}

// dialAdvertised makes sure that the addresses by which the brokers refer to
// each other are good from here as well: a client connects to those.
func dialAdvertised(ctx context.Context, brokers kadm.BrokerDetails, a access.Access) error {
	var addrs []string
	for _, b := range brokers {
		addrs = append(addrs, net.JoinHostPort(b.Host, fmt.Sprint(b.Port)))
	}
	errs := dialAll(ctx, addrs, a)
	if denied := firstDenial(errs); denied != nil {
		return denied
	}
	if err := errors.Join(errs...); err != nil {
		return &Error{
			Kind: ErrUnreachable, What: "a broker can't be reached at the address that the cluster advertises for it",
			Cause:  err,
			Remedy: "correct advertised.listeners of that broker, or run where its address is known",
		}
	}
	return nil
}

// dialAll connects to each address once, up to the TLS handshake where there is
// one, and returns what went wrong, address by address.
func dialAll(ctx context.Context, addrs []string, a access.Access) []error {
	var wg sync.WaitGroup
	errs := make([]error, len(addrs))
	for i, addr := range addrs {
		wg.Go(func() {
			conn, err := a.Secure(a.Dialer(dialTimeout))(ctx, "tcp", addr)
			if err != nil {
				errs[i] = dialError(addr, a, err)
				return
			}
			conn.Close()
		})
	}
	wg.Wait()
	return errs
}

// dialError says why addr can't be reached, without the layers of the network
// library.
func dialError(addr string, a access.Access, err error) error {
	var handshake *access.HandshakeError
	if errors.As(err, &handshake) {
		return denial(addr, a, err)
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%s does not answer within %v", addr, dialTimeout)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("%s: %w", addr, err)
}

// checkID compares the cluster's ID with the one that the caller expects.
func checkID(meta kadm.Metadata, bootstrap []string, expectID string) error {
	if expectID == meta.Cluster {
		return nil
	}
	if expectID != "" {
		return &Error{
			Kind: ErrInput, What: fmt.Sprintf("the cluster at %v has the ID %s, not %s", bootstrap, meta.Cluster,
				expectID),
			Remedy: "check the addresses, or name that ID with --cluster-id",
		}
	}
	hosts := make([]string, 0, len(bootstrap)+len(meta.Brokers))
	for _, addr := range bootstrap {
		host, _, _ := net.SplitHostPort(addr) // Connect has reached it
		hosts = append(hosts, host)
	}
	for _, b := range meta.Brokers {
		hosts = append(hosts, b.Host)
	}
	for _, h := range hosts {
		if !isLoopback(h) {
			return &Error{
				Kind: ErrInput, What: fmt.Sprintf("the cluster %s is not on this machine (%s), and a run puts load on it", meta.Cluster, h),
				Remedy: "if it is the one that you mean, add --cluster-id " + meta.Cluster,
			}
		}
	}
	return nil
}

// isLoopback reports whether every address of host is this machine's own and
// reachable from nowhere else. A name that can't be resolved is not.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	if host == "localhost" { // by RFC 6761, whatever resolver there is
		return true
	}
	ips, err := net.LookupIP(host)
	if err != nil || len(ips) == 0 {
		return false
	}
	for _, ip := range ips {
		if !ip.IsLoopback() {
			return false
		}
	}
	return true
}

// guessVersion derives the Kafka version from the APIs that the brokers offer,
// or returns "" if they disagree or don't say.
func guessVersion(ctx context.Context, admin *kadm.Client) string {
	versions, err := admin.ApiVersions(ctx)
	if err != nil {
		return ""
	}
	guess := ""
	for _, v := range versions {
		if v.Err != nil {
			return ""
		}
		g := v.VersionGuess()
		if guess != "" && g != guess {
			return ""
		}
		guess = g
	}
	return guess
}
