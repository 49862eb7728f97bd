package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

const connectTimeout = 15 * time.Second

const dialTimeout = 5 * time.Second

// connectRetries is low: dialAny has reached the addresses before, so a request that fails would
// probably fail again.
const connectRetries = 2

// Existing is a cluster that others run. Stop does nothing.
type Existing struct {
	bootstrap []string
	info      Info
	access    access.Access
	ids       []int32
	metrics   []string // the brokers' endpoints, in the order of ids
}

// Connect finds the cluster at the addresses in bootstrap (host:port), and checks that this process can reach every
// broker.
//
// expectID is the expected cluster ID. It may be empty only for a cluster of this machine, so that a mistyped
// address does not put load on another cluster. Errors are of kind ErrUnreachable, of ErrInput if the ID is missing
// or different, or of ErrRefused if a broker rejects the client.
func Connect(ctx context.Context, bootstrap []string, expectID string, a access.Access) (*Existing, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	meta, versions, err := reach(ctx, bootstrap, a)
	if err != nil {
		return nil, err
	}
	if err := checkID(meta, bootstrap, expectID); err != nil {
		return nil, err
	}
	return newExisting(bootstrap, a, meta, versions), nil
}

const addressRemedy = "write brokers as host:port, separated by commas"

// CheckAddresses returns an ErrInput for each address that is not host:port. It looks no name up.
func CheckAddresses(addrs []string) error {
	var faults []error
	for _, addr := range addrs {
		host, port, err := net.SplitHostPort(addr)
		if n, noNumber := strconv.Atoi(port); err == nil && (noNumber != nil || n < 1 || n > 65535) {
			err = fmt.Errorf("the port %q is not 1 to 65535", port)
		}
		if err == nil && host == "" {
			err = errors.New("it names no host")
		}
		if err != nil {
			var syntax *net.AddrError
			if errors.As(err, &syntax) {
				err = errors.New(syntax.Err)
			}
			faults = append(faults, &Error{Kind: ErrInput, What: fmt.Sprintf("broker %q", addr), Cause: err, Remedy: addressRemedy})
		}
	}
	return errors.Join(faults...)
}

// CheckEndpoints returns an ErrInput for each text that is not the URL of a metrics endpoint.
func CheckEndpoints(endpoints []string) error {
	var faults []error
	for _, endpoint := range endpoints {
		if u, err := url.Parse(endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			faults = append(faults, &Error{Kind: ErrInput, What: fmt.Sprintf("%q is not a metrics endpoint", endpoint),
				Remedy: "write http://host:port/metrics"})
		}
	}
	return errors.Join(faults...)
}

// OnThisMachine reports whether an address, host:port, is loopback.
func OnThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

// Attach is Connect without the check of the ID, for a process whose parent has checked it.
func Attach(ctx context.Context, bootstrap []string, a access.Access) (*Existing, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	meta, versions, err := reach(ctx, bootstrap, a)
	if err != nil {
		return nil, err
	}
	return newExisting(bootstrap, a, meta, versions), nil
}

func newExisting(bootstrap []string, a access.Access, meta kadm.Metadata, versions kadm.BrokersApiVersions) *Existing {
	e := &Existing{bootstrap: bootstrap, access: a, ids: slices.Sorted(slices.Values(meta.Brokers.NodeIDs())),
		info: Info{
			Kind: KindExisting, ID: meta.Cluster, Version: guessVersion(versions), Brokers: len(meta.Brokers),
		}}
	e.info.lacks(versions)
	return e
}

// Reach checks what Connect checks, except the cluster's ID.
func Reach(ctx context.Context, bootstrap []string, a access.Access) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, _, err := reach(ctx, bootstrap, a)
	return err
}

// The versions are nil if the brokers don't report them.
func reach(ctx context.Context, bootstrap []string, a access.Access) (meta kadm.Metadata,
	versions kadm.BrokersApiVersions, err error) {
	reached, err := dialAny(ctx, bootstrap, a)
	if err != nil {
		return meta, nil, err
	}
	client, err := newClient(reached, a, kgo.RequestRetries(connectRetries))
	if err != nil {
		return meta, nil, err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	meta, err = admin.BrokerMetadata(ctx)
	if denied := denial(strings.Join(reached, ", "), a, err); denied != nil {
		return meta, nil, denied
	}
	if err != nil {
		return meta, nil, &Error{
			Kind: ErrUnreachable,
			What: fmt.Sprintf("%v accepts connections, but does not answer like a Kafka broker", reached), Cause: err,
			Remedy: fmt.Sprintf("check that the port is a %s listener of Kafka", a.Protocol()),
		}
	}
	if err := dialAdvertised(ctx, meta.Brokers, a); err != nil {
		return meta, nil, err
	}
	if versions, err = admin.ApiVersions(ctx); err != nil {
		return meta, nil, nil //nolint:nilerr // they only describe the cluster
	}
	return meta, versions, nil
}

// Bootstrap returns the addresses that the caller gave.
func (e *Existing) Bootstrap() []string { return e.bootstrap }

// Info describes the cluster. Version is a guess from the brokers' API versions, for instance "v4.1".
func (e *Existing) Info() Info { return e.info }

// Access returns how clients reach the cluster.
func (e *Existing) Access() access.Access { return e.access }

// Meter sets the brokers' metrics endpoints, in the order of their IDs. An error is of kind ErrInput.
func (e *Existing) Meter(endpoints []string) error {
	if len(endpoints) != len(e.ids) {
		return &Error{
			Kind: ErrInput, What: fmt.Sprintf("%d metrics endpoints for %d brokers", len(endpoints), len(e.ids)),
			Remedy: fmt.Sprintf("name one for each broker, in the order of their IDs: %v", e.ids),
		}
	}
	if err := CheckEndpoints(endpoints); err != nil {
		return err
	}
	e.metrics = endpoints
	return nil
}

// MetricsEndpoints returns the endpoints that Meter received.
func (e *Existing) MetricsEndpoints() []MetricsEndpoint {
	var endpoints []MetricsEndpoint
	for i, address := range e.metrics {
		endpoints = append(endpoints, MetricsEndpoint{ID: e.ids[i], URL: address})
	}
	return endpoints
}

// Stop does nothing.
func (e *Existing) Stop(context.Context) error { return nil }

// If dialAny reaches no address, the error has the reason for each.
func dialAny(ctx context.Context, addrs []string, a access.Access) ([]string, error) {
	if len(addrs) == 0 {
		return nil, &Error{Kind: ErrInput, What: "no brokers are named", Remedy: addressRemedy}
	}
	if err := CheckAddresses(addrs); err != nil {
		return nil, err
	}
	errs := dialAll(ctx, addrs, a)
	var reached []string
	for i, err := range errs {
		if err == nil {
			reached = append(reached, addrs[i])
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

func firstDenial(errs []error) error {
	for _, err := range errs {
		var denied *Error
		if errors.As(err, &denied) {
			return denied
		}
	}
	return nil
}

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
		host, _, _ := net.SplitHostPort(addr)
		hosts = append(hosts, host)
	}
	for _, b := range meta.Brokers {
		hosts = append(hosts, b.Host)
	}
	for _, h := range hosts {
		if !isLoopback(h) {
			return &Error{
				Kind: ErrInput, What: fmt.Sprintf("the cluster %s is not on this machine (%s), and must be named by its ID", meta.Cluster, h),
				Remedy: "if it is the one that you mean, add --cluster-id " + meta.Cluster,
			}
		}
	}
	return nil
}

// isLoopback returns false for a name that can't be resolved.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	if host == "localhost" { // always loopback (RFC 6761)
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

// guessVersion returns "" if the brokers' API versions differ or are unknown.
func guessVersion(versions kadm.BrokersApiVersions) string {
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

// lacks sets ClassicOnly if any broker lacks the group protocol consumer, and NoShares if any lacks
// share groups.
func (i *Info) lacks(versions kadm.BrokersApiVersions) {
	for _, v := range versions {
		if v.Err != nil {
			continue
		}
		// Kafka 3.9 has version 0 of the request, a preview, even if the preview is switched off.
		latest, _ := v.KeyMaxVersion(int16(kmsg.ConsumerGroupHeartbeat))
		i.ClassicOnly = i.ClassicOnly || latest < 1
		i.NoShares = i.NoShares || noShares(v.Raw().FinalizedFeatures)
	}
}

// noShares returns false if the broker reports no features. Kafka 4.1 has the requests of share
// groups even if share groups are switched off.
func noShares(features []kmsg.ApiVersionsResponseFinalizedFeature) bool {
	shares := func(f kmsg.ApiVersionsResponseFinalizedFeature) bool { return f.Name == "share.version" }
	return len(features) > 0 && !slices.ContainsFunc(features, shares)
}
