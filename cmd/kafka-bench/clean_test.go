package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
)

// groupsOf returns the names of all groups.
func groupsOf(t *testing.T, client ...kgo.Opt) []string {
	t.Helper()
	c, err := kgo.NewClient(client...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	listed, err := kadm.NewClient(c).ListGroups(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return listed.Groups()
}

// killed makes a run that cannot delete anything, as if it had been killed before its end. It returns the names of all
// topics and groups that the run made.
func (l lab) killed(t *testing.T, e *cluster.Embedded, args ...string) (madeTopics, madeGroups []string) {
	t.Helper()
	client := l.client(e.Bootstrap())
	hadTopics, hadGroups := topics(t, client...), groupsOf(t, client...)
	faults := e.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DeleteTopics, kmsg.DeleteGroups}, Err: kerr.PolicyViolation, Count: -1})
	got := l.invoke(t, slices.Concat([]string{"run"}, args, []string{"--brokers", e.Bootstrap()[0], "--out", t.TempDir()})...)
	faults.Remove()
	if got.code != exitValid {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	had := func(names []string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	return slices.DeleteFunc(topics(t, client...), had(hadTopics)), slices.DeleteFunc(groupsOf(t, client...), had(hadGroups))
}

func (l lab) clean(t *testing.T, e *cluster.Embedded, args ...string) invoked {
	t.Helper()
	return l.invoke(t, append([]string{"clean", "--brokers", e.Bootstrap()[0]}, args...)...)
}

func TestClean(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		client := l.client(e.Bootstrap())
		if got := l.clean(t, e); got.code != exitValid || !strings.Contains(got.stdout, "has no topic or group of a run") {
			t.Errorf("on an empty cluster: exit code %d, %q, %s", got.code, got.stdout, got.stderr)
		}
		left, leftGroups := l.killed(t, e, write(t, tiny))
		if len(left) != 1 || len(leftGroups) != 1 || left[0] != leftGroups[0] {
			t.Fatalf("the run left %v and %v", left, leftGroups)
		}
		others := []string{"kafka-bench-mine", left[0] + "-backup", "orders"}
		for _, name := range others {
			if err := e.Fake().CreateTopic(name, 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		got := l.clean(t, e, "--yes")
		if got.code != exitValid || !strings.Contains(got.stdout, "There was nothing to remove.") || !strings.Contains(got.stdout, "its run may last until 2000-01-01 00:") {
			t.Errorf("soon after: exit code %d, %q, %s", got.code, got.stdout, got.stderr)
		}

		again := l.invoke(t, "run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--out", t.TempDir())
		if again.code != exitValid || strings.Contains(again.stderr, "left here") {
			t.Errorf("soon after, a run says %q", again.stderr)
		}
		time.Sleep(3 * time.Hour)
		again = l.invoke(t, "run", write(t, tiny), "--brokers", e.Bootstrap()[0], "--out", t.TempDir())
		want := "1 topic of an earlier run is left here; `kafka-bench clean --brokers " + e.Bootstrap()[0] + "` lists them\n"
		if again.code != exitValid || strings.Count(again.stderr, want) != 1 {
			t.Errorf("a later run says %q, want %q", again.stderr, want)
		}

		got = l.clean(t, e)
		if got.code != exitValid || !strings.HasSuffix(got.stdout, "\nNothing was removed. With --yes, the same command removes 1 topic and 1 group.\n") {
			t.Errorf("exit code %d, %q, %s", got.code, got.stdout, got.stderr)
		}
		for _, name := range others[:2] {
			if !strings.Contains(spaced(got.stdout), "topic "+name+" age unknown; remove it with --topic NAME") {
				t.Errorf("nothing is said of %s:\n%s", name, got.stdout)
			}
		}
		if strings.Contains(got.stdout, "orders") {
			t.Errorf("a topic of a user is listed:\n%s", got.stdout)
		}
		got = l.clean(t, e, "--yes")
		if got.code != exitValid || !strings.HasPrefix(got.stdout, "removed  group  "+left[0]+"\nremoved  topic  "+left[0]+"\n") {
			t.Errorf("exit code %d, %q, %s", got.code, got.stdout, got.stderr)
		}
		if have := topics(t, client...); !slices.Equal(have, slices.Sorted(slices.Values(others))) {
			t.Errorf("the topics are %v, want %v", have, others)
		}
		if have := groupsOf(t, client...); len(have) > 0 {
			t.Errorf("the groups are %v", have)
		}
		got = l.clean(t, e, "--topic", others[0], "--yes")
		if have := topics(t, client...); got.code != exitValid || slices.Contains(have, others[0]) || len(have) != 2 {
			t.Errorf("exit code %d, the topics are %v: %s", got.code, have, got.stderr)
		}
	})
}

func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestCleanLeavesARunAlone(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		ran := make(chan invoked, 1)
		go func() {
			ran <- l.invoke(t, "run", write(t, tiny), "--set", "load.rate=1/s", "--set", "phases.measure=50s", "--set", "sampling.interval=10s",
				"--brokers", e.Bootstrap()[0], "--out", t.TempDir())
		}()
		time.Sleep(40 * time.Second)
		name := topics(t, l.client(e.Bootstrap())...)[0]
		for _, args := range [][]string{{"--yes"}, {"--yes", "--topic", name}, {"--yes", "--group", name}} {
			got := l.clean(t, e, args...)
			if strings.Contains(got.stdout, "removed ") || len(args) > 1 && (got.code != exitBadInput || !strings.Contains(got.stderr, "the group "+name+" has members")) {
				t.Errorf("%q: exit code %d, %q, %s", args, got.code, got.stdout, got.stderr)
			}
		}
		if got := <-ran; got.code != exitValid {
			t.Errorf("the run ends with %d: %s", got.code, got.stderr)
		}
	})
}

// A group that a user chose uses the run's topic past the run's end.
func TestCleanLeavesUsedTopics(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		left, _ := l.killed(t, e, write(t, tiny))
		user, err := kgo.NewClient(l.client(e.Bootstrap(), kgo.ConsumerGroup("team"), kgo.ConsumeTopics(left...))...)
		if err != nil {
			t.Fatal(err)
		}
		defer user.Close()
		user.PollFetches(t.Context())
		time.Sleep(3 * time.Hour)
		got := l.clean(t, e, "--yes")
		want := "topic " + left[0] + " in use: the group team has members"
		if have := topics(t, l.client(e.Bootstrap())...); got.code != exitValid || !slices.Equal(have, left) || !strings.Contains(spaced(got.stdout), want) {
			t.Errorf("exit code %d, the topics are %v, %q, %s", got.code, have, got.stdout, got.stderr)
		}
	})
}

// Every topic and group of a run has its times in its name.
func TestEveryNameHasItsTimes(t *testing.T) {
	for name, args := range map[string][]string{
		"groups": {"--set", "consume.groups=2"},
		"queue":  {"--set", "consume.queue={engine: markers, max_deliveries: 3, tracker: external}"},
		"group":  {"--set", "topic.name=orders", "--set", "topic.config.retention.ms=1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				e := l.start(t)
				madeTopics, madeGroups := l.killed(t, e, append([]string{write(t, tiny)}, args...)...)
				all := slices.DeleteFunc(slices.Concat(madeTopics, madeGroups), func(name string) bool { return name == "orders" })
				if len(all) == 0 {
					t.Error("the run made nothing")
				}
				for _, made := range all {
					of, ok := runname.Parse(made)
					if !ok || of.Of != "s" || of.Kept || of.Start.Year() != 2000 || of.End.Sub(of.Start) < 30*time.Minute {
						t.Errorf("%s is read as %+v", made, of)
					}
				}
			})
		})
	}
}

func TestKeptTopicsAreNotCleaned(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		if got := l.invoke(t, "run", write(t, tiny), "--keep-topics", "--brokers", e.Bootstrap()[0], "--out", t.TempDir()); got.code != exitValid {
			t.Fatalf("exit code %d: %s", got.code, got.stderr)
		}
		time.Sleep(3 * time.Hour)
		kept := topics(t, l.client(e.Bootstrap())...)
		got := l.clean(t, e, "--yes")
		if have := topics(t, l.client(e.Bootstrap())...); len(kept) != 1 || !slices.Equal(have, kept) || !strings.Contains(got.stdout, "kept by --keep-topics") {
			t.Errorf("the topics were %v and are %v: %s", kept, have, got.stdout)
		}
	})
}

// A session without a name of its user's has one with its times.
func TestSessionHasItsTimes(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		e := l.start(t)
		ran := make(chan invoked, 1)
		go func() {
			ran <- l.invoke(t, "run", write(t, tiny), "--agents", "2", "--set", "load.producers=2", "--set", "consume.consumers=2",
				"--set", "topic.partitions=2",
				"--brokers", e.Bootstrap()[0], "--out", t.TempDir())
		}()
		time.Sleep(5 * time.Second)
		const control = runname.Prefix + "control-"
		var session string
		var have []string
		for _, name := range topics(t, l.client(e.Bootstrap())...) {
			of, ok := runname.Parse(name)
			if !ok {
				t.Errorf("%s has no times", name)
			}
			have = append(have, of.Of)
			if of.Of == "control" {
				session = strings.TrimPrefix(name, control)
				if lasts := of.End.Sub(of.Start); lasts < 7*24*time.Hour || lasts > 8*24*time.Hour {
					t.Errorf("the session lasts %v", lasts)
				}
			}
		}
		if want := []string{"control", "s"}; !slices.Equal(have, want) {
			t.Errorf("the topics are of %v, want %v", have, want)
		}
		ended := l.agents(t, 2, session, e.Bootstrap()[0])
		if got := <-ran; got.code != exitValid {
			t.Errorf("exit code %d: %s", got.code, got.stderr)
		}
		ended()
	})
}

func TestCleanRefused(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no brokers":      {[]string{"clean"}, "clean needs --brokers, the addresses of the cluster"},
		"not ours":        {[]string{"clean", "--brokers", "b:1", "--topic", "orders"}, `"orders" is not a name that a run makes: they begin with kafka-bench-; delete others with Kafka's own tools`},
		"nothing":         {[]string{"clean", "--brokers", "BROKERS", "--topic", "kafka-bench-x"}, `there is no topic "kafka-bench-x", or this user may not DESCRIBE it; leave --topic out to see those that are there`},
		"brokers":         {[]string{"clean", "--brokers", "BROKERS, BROKERS,", "--topic", "kafka-bench-x"}, `there is no topic "kafka-bench-x", or this user may not DESCRIBE it; leave --topic out to see those that are there`},
		"another cluster": {[]string{"clean", "--brokers", "BROKERS", "--cluster-id", "other"}, "the cluster at [BROKERS] has the ID ID, not other; check the addresses, or name that ID with --cluster-id"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, l lab) {
				e := l.start(t)
				for i, arg := range test.args {
					test.args[i] = strings.ReplaceAll(arg, "BROKERS", e.Bootstrap()[0])
				}
				want := strings.NewReplacer("BROKERS", e.Bootstrap()[0], "ID ID", "ID "+e.Info().ID).Replace(test.want)
				if got := l.invoke(t, test.args...); got.code != exitBadInput || got.message() != want {
					t.Errorf("exit code %d and\n%s, want\n%s", got.code, got.message(), want)
				}
			})
		})
	}
}

func TestCleanWithoutRights(t *testing.T) {
	virtually(t, func(t *testing.T, l lab) {
		const password = "secret"
		may := func(resource kmsg.ACLResourceType) kfake.ACL {
			return kfake.ACL{Resource: resource, Name: "kafka-bench-", Pattern: kmsg.ACLResourcePatternTypePrefixed,
				Operation: kmsg.ACLOperationDescribe, Allow: true}
		}
		fake, err := kfake.NewCluster(append(l.listen(), kfake.EnableSASL(), kfake.EnableACLs(),
			kfake.User("PLAIN", "reader", password, may(kmsg.ACLResourceTypeTopic), may(kmsg.ACLResourceTypeGroup)))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fake.Close)
		name := runname.New("s", "k3x7qa", time.Now().Add(-3*time.Hour), time.Hour).String()
		if err := fake.CreateTopic(name, 1, nil); err != nil {
			t.Fatal(err)
		}
		got := l.invoke(t, "clean", "--brokers", fake.ListenAddrs()[0], "--command-config", properties(t, "reader", password), "--yes")
		want := `the topic "` + name + `" can't be deleted: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed.]; allow this user DELETE and DESCRIBE on topics and groups that begin with kafka-bench-: kafka-acls --add --allow-principal User:NAME --operation Delete --operation Describe --topic kafka-bench- --group kafka-bench- --resource-pattern-type prefixed`
		if got.code != exitUnreachable || got.message() != want {
			t.Errorf("exit code %d and\n%s, want\n%s\n%s", got.code, got.message(), want, got.stdout)
		}
	})
}
