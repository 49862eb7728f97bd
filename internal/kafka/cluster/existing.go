package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

const connectTimeout = 15 * time.Second

const dialTimeout = 5 * time.Second

// Existing is a cluster that others run. Stop does nothing.
type Existing struct {
	bootstrap []string // advertised
	silent    []string
	info      Info
	access    access.Access
	ids       []int32
	metrics   []string // the brokers' endpoints, in the order of ids
}

// Connect finds the cluster at the addresses in bootstrap (host:port), and checks that this process can reach every
// broker. The cluster's Bootstrap are the addresses that it advertises.
//
// expectID is the expected cluster ID. It may be empty only for a cluster of this machine, so that a mistyped
// address does not put load on another cluster. Errors are of kind ErrUnreachable, of ErrInput if the ID is missing
// or different, or if the addresses lead to different clusters, or of ErrRefused if a broker rejects the client.
func Connect(ctx context.Context, bootstrap []string, expectID string, a access.Access) (*Existing, error) {
	e, err := Attach(ctx, bootstrap, expectID, a)
	if err != nil {
		return nil, err
	}
	if expectID == "" {
		if err := mustBeHere(e.info.ID, slices.Concat(bootstrap, e.bootstrap)); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Attach is Connect for a process whose parent has chosen the cluster. An empty expectID is any cluster.
func Attach(ctx context.Context, bootstrap []string, expectID string, a access.Access) (*Existing, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	found, silent, err := askAny(ctx, bootstrap, a)
	if err != nil {
		return nil, err
	}
	if err := checkID(found, expectID); err != nil {
		return nil, err
	}
	brokers := slices.MaxFunc(found, func(a, b answer) int { return len(a.meta.Brokers) - len(b.meta.Brokers) }).meta.Brokers
	advertised := addressesOf(brokers)
	if err := askAdvertised(ctx, advertised, found, a); err != nil {
		return nil, err
	}
	versions, err := versionsOf(ctx, advertised, a)
	if err != nil {
		return nil, err
	}
	e := &Existing{bootstrap: advertised, silent: silent, access: a, ids: slices.Sorted(slices.Values(brokers.NodeIDs())),
		info: Info{
			Kind: KindExisting, ID: found[0].meta.Cluster, Version: guessVersion(versions), Brokers: len(brokers),
		}}
	e.info.lacks(versions)
	return e, nil
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
			faults = append(faults, &Error{Kind: ErrInput, What: fmt.Sprintf("%q is not a metrics endpoint", access.HideUser(endpoint)),
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

// Bootstrap returns the addresses that the cluster advertises.
func (e *Existing) Bootstrap() []string { return e.bootstrap }

// Silent returns a sentence for each address that was given, did not answer, and is not used.
func (e *Existing) Silent() []string { return e.silent }

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

// isLoopback returns false for a name that can't be resolved.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	if host == "localhost" { // always loopback (RFC 6761)
		return true
	}
	is, known := namesHere.Load(host)
	if !known {
		ips, err := net.LookupIP(host)
		is = err == nil && len(ips) > 0 && !slices.ContainsFunc(ips, func(ip net.IP) bool { return !ip.IsLoopback() })
		namesHere.Store(host, is)
	}
	return is.(bool)
}

// namesHere has whether a host's name is this machine. A command asks often, and a name server may take seconds.
var namesHere sync.Map

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
