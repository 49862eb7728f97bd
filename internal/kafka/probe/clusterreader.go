package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/guard"
)

// ClusterReader looks at a cluster for the guards of a run: at its brokers, partitions, disks, and at groups' lag.
// A look is one step, which asks each broker at most once. With a look every ClusterPeriod a broker gets at most two
// requests a second. It is not safe for concurrent use.
type ClusterReader struct {
	client *kgo.Client
	groups []string
	steps  []func(context.Context, *guard.Observation) // the second one asks every broker
	next   int
	began  time.Time

	hosts        map[int32]string
	partitions   map[string][]kmsg.MetadataResponseTopicPartition
	names        map[[16]byte]string        // of topics
	leaders      map[string]map[int32]int32 // by topic and partition
	coordinators map[string]int32           // by group
	committed    map[string]map[string]map[int32]int64
	refused      map[int32]bool
	failed       error // of the last step
}

// ClusterPeriod is the period of the looks.
const ClusterPeriod = 500 * time.Millisecond

const (
	// lookTimeout bounds a look during the load, firstTimeout one before it.
	lookTimeout  = 2 * time.Second
	firstTimeout = 15 * time.Second
)

// NewClusterReader returns a reader; the caller must Close it.
func NewClusterReader(brokers []string, a access.Access, groups []string) (*ClusterReader, error) {
	client, err := kgo.NewClient(append(a.Options(),
		kgo.SeedBrokers(brokers...),
		kgo.ClientID("kafka-bench-admin"),
		kgo.DisableClientMetrics(),
		kgo.RequestRetries(1),
		kgo.RetryTimeout(lookTimeout),
		kgo.MetadataMaxAge(time.Hour),
	)...)
	if err != nil {
		return nil, fmt.Errorf("opening the client that watches the cluster: %w", err)
	}
	r := &ClusterReader{client: client, groups: groups, began: time.Now(), hosts: map[int32]string{},
		coordinators: map[string]int32{}, refused: map[int32]bool{}}
	r.steps = []func(context.Context, *guard.Observation){r.readMetadata, r.readDisks}
	if len(groups) > 0 {
		r.steps = append(r.steps, r.readCommitted, r.readLag)
	}
	return r, nil
}

// Close closes the reader's client.
func (r *ClusterReader) Close() { r.client.Close() }

// ReadAll makes all steps of a look, before the load. An error is of the metadata or of a group. Disks that brokers
// do not report are no error; they are nil, and Read does not ask for them. The lag has no group without committed
// offsets: brokers answer so for an unknown group.
func (r *ClusterReader) ReadAll(ctx context.Context) (guard.Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, firstTimeout)
	defer cancel()
	o := guard.Observation{At: time.Since(r.began)}
	r.readMetadata(ctx, &o)
	if r.failed != nil {
		return o, fmt.Errorf("reading the cluster's metadata: %w", r.failed)
	}
	if r.readDisks(ctx, &o); o.Disks == nil {
		r.steps[1] = r.readVersions
	}
	if len(r.groups) == 0 {
		return o, nil
	}
	for _, group := range r.groups {
		if err := r.findCoordinator(ctx, group); err != nil {
			return o, fmt.Errorf("finding the coordinator of group %s (--watch-group): %w", group, err)
		}
	}
	for _, step := range r.steps[2:] {
		if step(ctx, &o); r.failed != nil {
			return o, fmt.Errorf("reading the lag of the groups of --watch-group: %w", r.failed)
		}
	}
	return o, nil
}

// Read makes the next step. What cannot be read is left out.
func (r *ClusterReader) Read(ctx context.Context) guard.Observation {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	o := guard.Observation{At: time.Since(r.began)}
	step := r.steps[r.next]
	if len(r.refused) > 0 { // first of all it must be known whether these brokers are gone
		step = r.steps[1]
	} else {
		r.next = (r.next + 1) % len(r.steps)
	}
	step(ctx, &o)
	o.At = time.Since(r.began)
	return o
}

func (r *ClusterReader) readMetadata(ctx context.Context, o *guard.Observation) {
	resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, r.client)
	if r.failed = err; err != nil {
		return
	}
	o.Brokers = []int32{}
	for _, b := range resp.Brokers {
		o.Brokers, r.hosts[b.NodeID] = append(o.Brokers, b.NodeID), b.Host
	}
	maps.DeleteFunc(r.hosts, func(id int32, _ string) bool { return !slices.Contains(o.Brokers, id) })
	slices.Sort(o.Brokers)
	r.names = make(map[[16]byte]string, len(resp.Topics))
	r.leaders, r.partitions = make(map[string]map[int32]int32), make(map[string][]kmsg.MetadataResponseTopicPartition)
	for _, t := range resp.Topics {
		if t.Topic == nil || t.ErrorCode != 0 {
			continue
		}
		r.names[t.TopicID] = *t.Topic
		leaders := make(map[int32]int32, len(t.Partitions))
		for _, p := range t.Partitions {
			leaders[p.Partition] = p.Leader
			if p.Leader < 0 || len(p.ISR) < len(p.Replicas) {
				o.Unhealthy = append(o.Unhealthy, fmt.Sprintf("%s-%d", *t.Topic, p.Partition))
			}
		}
		r.leaders[*t.Topic] = leaders
		if len(t.Partitions) > 0 {
			r.partitions[*t.Topic] = t.Partitions
		}
	}
	slices.Sort(o.Unhealthy)
}

// Placement is the size of a topic, and where its replicas are.
type Placement struct {
	Partitions, Replication int
	Brokers                 map[int32]int // number of replicas by broker
}

// Topic returns the size of a topic in the last metadata; known is false if it has no such topic.
func (r *ClusterReader) Topic(name string) (_ Placement, known bool) {
	partitions := r.partitions[name]
	if len(partitions) == 0 {
		return Placement{}, false
	}
	placed := Placement{len(partitions), len(partitions[0].Replicas), make(map[int32]int)}
	for _, p := range partitions {
		for _, id := range p.Replicas {
			placed.Brokers[id]++
		}
	}
	return placed, true
}

// ask sends each broker its request at the same time, and passes the answers to take, one after another. It returns
// the first error of an answer or a request.
func ask[R kmsg.Response](ctx context.Context, r *ClusterReader, o *guard.Observation, requests map[int32]kmsg.Request,
	take func(id int32, answer R) error) (failed error) {
	var mu sync.Mutex
	var asked sync.WaitGroup
	for id, request := range requests {
		asked.Go(func() {
			answer, err := r.client.Broker(int(id)).Request(ctx, request)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				o.Answered = append(o.Answered, id)
				delete(r.refused, id)
				err = take(id, answer.(R))
			case refuses(ctx, err):
				o.Refused = append(o.Refused, id)
				r.refused[id] = true
			}
			if failed == nil {
				failed = err
			}
		})
	}
	asked.Wait()
	return failed
}

// refuses reports whether a broker closed or refused the connection. One that takes long does not, nor does one that
// does not know the request.
func refuses(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if network := (*net.OpError)(nil); errors.As(err, &network) {
		return !network.Timeout()
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // also in kgo.ErrFirstReadEOF
}

// readVersions asks brokers that report no disks, only to know that they answer.
func (r *ClusterReader) readVersions(ctx context.Context, o *guard.Observation) {
	requests := make(map[int32]kmsg.Request)
	for id := range r.hosts {
		requests[id] = kmsg.NewPtrApiVersionsRequest()
	}
	r.failed = ask(ctx, r, o, requests, func(int32, *kmsg.ApiVersionsResponse) error { return nil })
}

// An empty list of topics asks for the disks only. If a broker reports no disks, o.Disks stays nil.
func (r *ClusterReader) readDisks(ctx context.Context, o *guard.Observation) {
	requests := make(map[int32]kmsg.Request)
	for id := range r.hosts {
		request := kmsg.NewPtrDescribeLogDirsRequest()
		request.Topics = []kmsg.DescribeLogDirsRequestTopic{}
		requests[id] = request
	}
	var dirs []guard.Dir
	r.failed = ask(ctx, r, o, requests, func(id int32, answer *kmsg.DescribeLogDirsResponse) error {
		for _, d := range answer.Dirs {
			if d.ErrorCode == 0 {
				dirs = append(dirs, guard.Dir{Broker: id, Host: r.hosts[id], TotalBytes: d.TotalBytes, UsableBytes: d.UsableBytes})
			}
		}
		return kerr.ErrorForCode(answer.ErrorCode)
	})
	if disks, known := guard.Disks(dirs, len(o.Answered)); known {
		o.Disks = disks
	}
}

func (r *ClusterReader) findCoordinator(ctx context.Context, group string) error {
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.CoordinatorKey, request.CoordinatorKeys = group, []string{group}
	answer, err := request.RequestWith(ctx, r.client)
	if err != nil {
		return err
	}
	id, code := answer.NodeID, answer.ErrorCode
	if len(answer.Coordinators) > 0 {
		id, code = answer.Coordinators[0].NodeID, answer.Coordinators[0].ErrorCode
	}
	r.coordinators[group] = id
	return kerr.ErrorForCode(code)
}

// manyGroups is the first version of OffsetFetch with several groups.
const manyGroups = 8

// readCommitted asks each coordinator for its groups' committed offsets. A group that has moved is found again in
// place of its question.
func (r *ClusterReader) readCommitted(ctx context.Context, o *guard.Observation) {
	requests := make(map[int32]kmsg.Request)
	for _, group := range r.groups {
		id, known := r.coordinators[group]
		if !known {
			r.failed = r.findCoordinator(ctx, group)
			return
		}
		request, asked := requests[id].(*kmsg.OffsetFetchRequest)
		if !asked {
			request = kmsg.NewPtrOffsetFetchRequest()
			requests[id] = request
		}
		of := kmsg.NewOffsetFetchRequestGroup()
		of.Group = group
		request.Groups = append(request.Groups, of)
	}
	committed := make(map[string]map[string]map[int32]int64)
	r.failed = ask(ctx, r, o, requests, func(id int32, answer *kmsg.OffsetFetchResponse) error {
		if answer.Version < manyGroups {
			return fmt.Errorf("broker %d is older than Kafka 3.0", id)
		}
		for _, g := range answer.Groups {
			if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
				delete(r.coordinators, g.Group)
				return err
			}
			committed[g.Group] = r.offsetsOf(g)
		}
		return nil
	})
	if r.failed == nil {
		r.committed = committed
	}
}

// Since version 10 the answer has the topics' IDs instead of their names.
func (r *ClusterReader) offsetsOf(g kmsg.OffsetFetchResponseGroup) map[string]map[int32]int64 {
	topics := make(map[string]map[int32]int64)
	for _, t := range g.Topics {
		offsets := make(map[int32]int64)
		for _, p := range t.Partitions {
			if p.Offset >= 0 && p.ErrorCode == 0 {
				offsets[p.Partition] = p.Offset
			}
		}
		name := t.Topic
		if name == "" {
			name = r.names[t.TopicID]
		}
		if len(offsets) > 0 {
			topics[name] = offsets
		}
	}
	return topics
}

// readLag asks the leaders for the ends of the partitions with committed offsets.
func (r *ClusterReader) readLag(ctx context.Context, o *guard.Observation) {
	if r.committed == nil {
		return
	}
	wanted := make(map[string]map[int32]bool)
	for _, topics := range r.committed {
		for topic, offsets := range topics {
			if wanted[topic] == nil {
				wanted[topic] = make(map[int32]bool)
			}
			for p := range offsets {
				wanted[topic][p] = true
			}
		}
	}
	ends := make(map[string]map[int32]int64)
	r.failed = ask(ctx, r, o, r.listRequests(wanted), func(_ int32, answer *kmsg.ListOffsetsResponse) error {
		for _, t := range answer.Topics {
			if ends[t.Topic] == nil {
				ends[t.Topic] = make(map[int32]int64)
			}
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					ends[t.Topic][p.Partition] = p.Offset
				}
			}
		}
		return nil
	})
	o.Lag = make(map[string]int64)
	for group, topics := range r.committed {
		if len(topics) == 0 {
			continue
		}
		lag := int64(0)
		for topic, offsets := range topics {
			for p, at := range offsets {
				lag += max(0, ends[topic][p]-at)
			}
		}
		o.Lag[group] = lag
	}
}

func (r *ClusterReader) listRequests(wanted map[string]map[int32]bool) map[int32]kmsg.Request {
	requests := make(map[int32]kmsg.Request)
	for topic, partitions := range wanted {
		of := make(map[int32]*kmsg.ListOffsetsRequestTopic) // by leader
		for p := range partitions {
			leader, known := r.leaders[topic][p]
			if !known || leader < 0 {
				continue
			}
			if of[leader] == nil {
				t := kmsg.NewListOffsetsRequestTopic()
				t.Topic, of[leader] = topic, &t
			}
			partition := kmsg.NewListOffsetsRequestTopicPartition()
			partition.Partition, partition.Timestamp = p, -1
			of[leader].Partitions = append(of[leader].Partitions, partition)
		}
		for leader, t := range of {
			request, asked := requests[leader].(*kmsg.ListOffsetsRequest)
			if !asked {
				request = kmsg.NewPtrListOffsetsRequest()
				request.ReplicaID = -1
				requests[leader] = request
			}
			request.Topics = append(request.Topics, *t)
		}
	}
	return requests
}
