package main

import (
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
)

// answering makes brokers answer a request; a nil answer leaves it to the fake.
func answering(fake *kfake.Cluster, key kmsg.Key, answer func(kmsg.Request) kmsg.Response) {
	fake.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		resp := answer(req)
		return resp, nil, resp != nil
	})
}

func withDisk(usable int64) func(*kfake.Cluster) {
	return func(fake *kfake.Cluster) {
		answering(fake, kmsg.DescribeLogDirs, func(req kmsg.Request) kmsg.Response {
			resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
			dir := kmsg.NewDescribeLogDirsResponseDir()
			dir.Dir, dir.TotalBytes, dir.UsableBytes = "/data", 100_000_000_000, usable
			resp.Dirs = append(resp.Dirs, dir)
			return resp
		})
	}
}

// withUnhealthy adds a partition of others that lacks a replica.
func withUnhealthy(fake *kfake.Cluster) {
	answering(fake, kmsg.Metadata, func(req kmsg.Request) kmsg.Response {
		if req.(*kmsg.MetadataRequest).Topics != nil {
			return nil
		}
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		for i, address := range fake.ListenAddrs() {
			host, port, _ := net.SplitHostPort(address)
			n, _ := strconv.Atoi(port)
			resp.Brokers = append(resp.Brokers, kmsg.MetadataResponseBroker{NodeID: int32(i), Host: host, Port: int32(n)})
		}
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Replicas, p.ISR = []int32{0, 1}, []int32{0}
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.Partitions = kmsg.StringPtr("orders"), append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp
	})
}

// withReplicas adds a topic "replicated" whose partition has three replicas.
func withReplicas(fake *kfake.Cluster) {
	answering(fake, kmsg.Metadata, func(req kmsg.Request) kmsg.Response {
		asked := req.(*kmsg.MetadataRequest).Topics
		if len(asked) != 1 || asked[0].Topic == nil || *asked[0].Topic != "replicated" {
			return nil
		}
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Replicas, p.ISR = []int32{0, 1, 2}, []int32{0, 1, 2}
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.Partitions = asked[0].Topic, append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp
	})
}

// withRights makes the brokers report only these rights on each topic.
func withRights(operations ...kmsg.ACLOperation) func(*kfake.Cluster) {
	return func(fake *kfake.Cluster) {
		answering(fake, kmsg.Metadata, func(req kmsg.Request) kmsg.Response {
			if !req.(*kmsg.MetadataRequest).IncludeTopicAuthorizedOperations {
				return nil
			}
			resp := req.ResponseKind().(*kmsg.MetadataResponse)
			topic := kmsg.NewMetadataResponseTopic()
			topic.Topic, topic.AuthorizedOperations = req.(*kmsg.MetadataRequest).Topics[0].Topic, 0
			topic.ErrorCode = kerr.UnknownTopicOrPartition.Code
			for _, operation := range operations {
				topic.AuthorizedOperations |= 1 << operation
			}
			resp.Topics = append(resp.Topics, topic)
			return resp
		})
	}
}

// TestDryRunRefusesLikeTheRun: what a run is refused for when it has reached the cluster, its dry run is refused for, in
// the same words and with the same exit code. Neither makes anything.
func TestDryRunRefusesLikeTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		on   func(*kfake.Cluster)
		want string // a part of both messages
		exit int
	}{
		"another ID":      {"--cluster-id 5L6g3nShT-eMCtK--X86sw", nil, ", not 5L6g3nShT-eMCtK--X86sw; check the addresses", exitBadInput},
		"unhealthy":       {"", withUnhealthy, "1 partition of the cluster without all replicas or without a leader: orders-0; wait", exitBadInput},
		"too little disk": {"--min-free 10GB", withDisk(10_000_000_100), "which has 10.0 GB free, and 10.0 GB must stay free (--min-free); lower load.rate", exitBadInput},
		"too few brokers": {"--set topic.replication=3", nil, "was not created: INVALID_REPLICATION_FACTOR: ", exitUnreachable},
		"a missing right": {"", withRights(kmsg.ACLOperationDescribe, kmsg.ACLOperationRead, kmsg.ACLOperationWrite), "this user may not DELETE the topic", exitUnreachable},
		"a missing topic": {"--set topic=null --set topic.existing=orders --write-to orders", nil, `the topic "orders" does not exist; create it`, exitBadInput},
		"replicas of a topic": {"--set topic=null --set topic.existing=replicated --write-to replicated --max-bytes 90kB --repeat 2", withReplicas,
			"the runs store up to 246 kB at a time, and the most is 90.0 kB; if that is meant, give --max-bytes 245760B", exitBadInput},
		"a name that is had": {"--set topic.name=taken", nil, `the cluster already has the topic "taken"`, exitBadInput},
		"a policy": {"", func(fake *kfake.Cluster) {
			fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.PolicyViolation, Count: -1})
		}, "POLICY_VIOLATION", exitUnreachable},
		"another version": {"--set cluster.version=2.8", nil, "cluster.version", exitBadInput},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				e := l.start(t)
				if err := e.Fake().CreateTopic("taken", 1, nil); err != nil {
					t.Fatal(err)
				}
				if c.on != nil {
					c.on(e.Fake())
				}
				out := filepath.Join(t.TempDir(), "runs")
				args := append([]string{"run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--out", out}, strings.Fields(c.args)...)
				dry, made := l.invoke(t, append(args, "--dry-run")...), l.invoke(t, args...)
				said, want := withoutTopic(dry.message()), withoutTopic(made.message())
				if said != want || !strings.Contains(said, c.want) || dry.code != made.code || dry.code != c.exit || dry.stdout != "" {
					t.Errorf("exit code %d and\n%s%s\nthe run: exit code %d and\n%s\nwant %d and %s", dry.code, dry.stdout, said, made.code,
						want, c.exit, c.want)
				}
				wantNothing(t, out)
				l.wantNothingOn(t, e)
			})
		})
	}
}

func (l lab) wantNothingOn(t *testing.T, e *cluster.Embedded) {
	t.Helper()
	client, err := kgo.NewClient(l.client(e.Bootstrap())...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	found, err := admin.ListTopics(t.Context())
	for name := range found {
		if strings.HasPrefix(name, runname.Prefix) {
			t.Errorf("the topic %s was made", name)
		}
	}
	groups, groupsErr := admin.ListGroups(t.Context())
	if err != nil || groupsErr != nil || len(groups) > 0 {
		t.Errorf("the groups %v; %v, %v", groups, err, groupsErr)
	}
}

func TestDryRunAsks(t *testing.T) {
	for name, c := range map[string]struct {
		command, args string
		on            func(*kfake.Cluster)
		want          []string
	}{
		"healthy": {"run", "", withDisk(50_000_000_000), []string{
			"the existing one at ADDRESS; none is started\n", "ID        ID; 1 broker, Kafka ", "rights    what the runs need",
			"health    each partition has all replicas and a leader\n", "peak      200/s\n",
			"free      50.0 GB of 100 GB on the disk of broker 0, of which 5.00 GB must stay free (--min-free)\n",
		}},
		"anyway": {"run", "--anyway", withUnhealthy, []string{
			"warning: 1 partition of the cluster without all replicas or without a leader: orders-0, before the load\n",
			"health    1 partition without all replicas or without a leader (--anyway)\n",
		}},
		"a disk that may not do": {"run", "--min-free 10GB --set load.compression=snappy", withDisk(10_000_001_000), []string{
			"must stay free (--min-free): if that is not enough, the run ends early\n",
		}},
		"disk not known": {"run", "", withDisk(-1), []string{
			"free      not watched: the brokers do not report what disk they have free\n", "warning: disk not watched: the brokers do not",
		}},
		"a search": {"search", "", withDisk(50_000_000_000), []string{"rights      what the runs need", "free        50.0 GB of 100 GB"}},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				e := l.start(t)
				c.on(e.Fake())
				out := filepath.Join(t.TempDir(), "runs")
				args := append([]string{c.command, write(t, tiny), "--dry-run", "--brokers", e.Bootstrap()[0], "--out", out}, strings.Fields(c.args)...)
				got := l.invoke(t, args...)
				if got.code != exitValid || got.stderr != "" {
					t.Errorf("exit code %d and %s", got.code, got.stderr)
				}
				for _, part := range c.want {
					wantSaid(t, got.stdout, strings.NewReplacer("ADDRESS", e.Bootstrap()[0], " ID;", " "+e.Info().ID+";").Replace(part))
				}
				wantNothing(t, out)
				l.wantNothingOn(t, e)
			})
		})
	}
}

// TestDryRunOutOfReach: the plan does not need the cluster.
func TestDryRunOutOfReach(t *testing.T) {
	dead := deadAddress(t)
	for _, command := range []string{"run", "search"} {
		got := invoke(t, command, write(t, tiny), "--dry-run", "--brokers", dead, "--out", t.TempDir())
		want := "the cluster was not asked: no broker can be reached: " + dead + ": connect: connection refused; check the addresses and that Kafka runs there"
		if got.code != exitUnreachable || got.message() != want {
			t.Errorf("%s: exit code %d and\n%s", command, got.code, got.stderr)
		}
		wantSaid(t, got.stdout, "the existing one at "+dead+"; none is started\n")
	}
}

func TestDiskNotWatched(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		withDisk(-1)(e.Fake())
		const said = "disk not watched: the brokers do not report what disk they have free\n"
		for _, repeat := range []string{"1", "2"} {
			got := l.invoke(t, "run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--repeat", repeat, "--out", t.TempDir())
			if got.code > exitInvalid || strings.Count(got.stderr, "\n"+said) != 1 {
				t.Errorf("exit code %d, and the header is\n%s", got.code, got.stderr)
			}
			if repeat == "1" && !strings.Contains(got.stdout, "\n"+said) {
				t.Errorf("the report is\n%s", got.stdout)
			}
		}
	})
}
