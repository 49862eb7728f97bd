package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
	"kafkabench.example/kafka-bench/internal/run/fleet/topic"
)

type fleetFlags struct {
	agents      int // 0: this process makes the runs
	senders     int // with receivers, instead of agents
	receivers   int
	local       bool
	session     string
	key         string
	placement   string
	joinTimeout time.Duration
}

var noAgents = fleetFlags{placement: bench.Own, joinTimeout: 5 * time.Minute}

func addFleet(c *cobra.Command, flags *fleetFlags) {
	f := c.Flags()
	f.IntVar(&flags.agents, "agents", 0, "how many agents (kafka-bench agent) make each run together, 1 to 1000; 0 is none")
	f.IntVar(&flags.senders, "senders", 0, "how many agents only send: the first ones; with --receivers, in place of --agents")
	f.IntVar(&flags.receivers, "receivers", 0, "how many agents only receive: those after the senders")
	f.BoolVar(&flags.local, "local-agents", false, "start the agents here, as processes of their own")
	f.StringVar(&flags.session, "session", "", "the name by which the agents find the run (default: a new one, which is printed)")
	f.StringVar(&flags.key, "key", "", "the `FILE` with the session's key (kafka-bench agent key); required unless the cluster is on this machine")
	f.StringVar(&flags.placement, "placement", noAgents.placement,
		"own: agents send to the partitions that their own consumers have; any: to all; apart: as --senders and --receivers say")
	addDuration(f, &flags.joinTimeout, "join-timeout", noAgents.joinTimeout, "how long to wait for all agents")
}

const maxAgents = 1000

// apart reports whether some agents send and the others receive.
func (f fleetFlags) apart() bool { return f.senders != 0 || f.receivers != 0 }

// of returns the number of agents; 0 is none.
func (f fleetFlags) of() int {
	if f.apart() {
		return f.senders + f.receivers
	}
	return f.agents
}

// joining returns how long agents may take to join a run; 0 without agents.
func (f fleetFlags) joining() time.Duration {
	if f.of() == 0 {
		return 0
	}
	return f.joinTimeout
}

// lasting returns how long the runs last together, at most.
func (f fleetFlags) lasting(plan campaign.Plan, runs []campaign.PlannedRun) (all time.Duration) {
	for _, run := range runs {
		all += bench.Lasts(plan.Cells[run.Cell].Scenario, f.joining())
	}
	return all
}

func (f fleetFlags) placed() string {
	if f.apart() {
		return bench.Apart
	}
	return f.placement
}

// text describes the agents, for a plan.
func (f fleetFlags) text() string {
	text := fmt.Sprintf("%d, placement %s", f.of(), f.placed())
	if f.apart() {
		text += fmt.Sprintf(": %s, %s", count(f.senders, "sender"), count(f.receivers, "receiver"))
	}
	if f.local {
		return text + ", started here"
	}
	return text + ", session " + cmp.Or(f.session, "of a new name") + " in a control topic of its own"
}

// words returns the flags to resume a campaign, without --session: the resumed campaign starts a
// new session.
func (f fleetFlags) words() (words []string) {
	switch {
	case f.apart():
		words = append(words, "--senders", strconv.Itoa(f.senders), "--receivers", strconv.Itoa(f.receivers))
	case f.agents > 0:
		words = append(words, "--agents", strconv.Itoa(f.agents))
		if f.placement != bench.Own {
			words = append(words, "--placement", f.placement)
		}
	}
	if f.local {
		words = append(words, "--local-agents")
	}
	if f.key != "" {
		words = append(words, "--key", f.key)
	}
	return words
}

func (f fleetFlags) check(engine engineFlags) error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	if f.apart() {
		refuse(f.senders < 1 || f.receivers < 1, "--senders %d --receivers %d: give at least one of each", f.senders, f.receivers)
		refuse(f.agents != 0 && f.agents != f.of(), "--agents %d: leave it out, because --senders and --receivers are %d", f.agents, f.of())
	}
	if f.of() == 0 {
		refuse(f.local, "--local-agents needs --agents, how many to start")
		refuse(f.session != "" || f.key != "" || f.placement != noAgents.placement || f.joinTimeout != noAgents.joinTimeout,
			"--session, --key, --placement and --join-timeout are for --agents; leave them out, or say how many agents there are")
		return errors.Join(faults...)
	}
	refuse(f.of() < 1 || f.of() > maxAgents, "%d agents: give 1 to %d", f.of(), maxAgents)
	refuse(len(engine.brokers) == 0 && !f.local, "--agents needs --brokers, the cluster under test, or --local-agents")
	refuse(f.placement == bench.Apart && !f.apart(), "--placement apart needs --senders and --receivers, how many agents do what")
	refuse(f.placement != bench.Own && f.placement != bench.Any && f.placement != bench.Apart, "--placement %s: choose own, any or apart", f.placement)
	refuse(f.placement == bench.Any && f.apart(), "--placement any: every agent sends and receives; leave it out, or --senders and --receivers")
	refuse(f.joinTimeout <= 0, "--join-timeout %v: give more than 0", f.joinTimeout)
	if !f.local {
		faults = append(faults, keyNeeded(f.key, engine.brokers))
	}
	if f.session != "" {
		faults = append(faults, flagFault("--session", topic.CheckName(f.session)))
	}
	_, err := readKey(f.key)
	return errors.Join(append(faults, err)...)
}

// enough refuses a suite for more agents than there are.
func (f fleetFlags) enough(suite scenario.Suite) error {
	if f.of() >= suite.Agents {
		return nil
	}
	return fmt.Errorf("scenario %s is made by agents, at least %d; give --agents 2 --local-agents, which starts them here, or one on each of several machines (docs/machines.md); --set agents=0 makes it without",
		suite.Name, suite.Agents)
}

// able refuses scenarios that the agents cannot run.
func (f fleetFlags) able(scenarios ...scenario.Scenario) error {
	var faults []error
	if f.of() <= 0 || f.of() > maxAgents {
		return nil // there are none, or check refuses their number
	}
	for _, s := range scenarios {
		if err := fleet.Check(s, f.of(), f.senders, f.placed()); err != nil {
			faults = append(faults, campaign.Failure(s, err))
		}
	}
	return errors.Join(faults...)
}

// loopback reports whether all addresses are of this machine; false without addresses.
func loopback(brokers []string) bool {
	for _, b := range brokers {
		if !cluster.OnThisMachine(b) {
			return false
		}
	}
	return len(brokers) > 0
}

// readKey reads a session's key; file "" is no key.
func readKey(file string) (control.Key, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("--key %s: it is no key; make one with kafka-bench agent key > %s", file, file)
	}
	return key, nil
}

const keyBytes = 32

func newKey() string {
	var key [keyBytes]byte
	_, _ = rand.Read(key[:]) // it never fails
	return hex.EncodeToString(key[:])
}

// session holds the agents of a command's runs. They stay between runs.
type session struct {
	flags  fleetFlags
	engine engineFlags
	lasts  time.Duration // all runs together, at most
	tell   func(string)

	at    string // the cluster of the open session
	topic *topic.Topic
	lead  *fleet.Coordinator
	local []*localAgent
	spool string

	keyFile string // "" is no key
}

// on returns the agents for runs on c. It opens a session, unless one is open on c.
func (s *session) on(ctx context.Context, c cluster.Cluster) (bench.Fleet, error) {
	at := strings.Join(c.Bootstrap(), ",")
	if s.lead != nil && s.at == at {
		return s.lead, nil
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	var err error
	if s.spool, err = os.MkdirTemp("", "kafka-bench-session-"); err != nil {
		return nil, err
	}
	if s.keyFile = s.flags.key; s.keyFile == "" && s.flags.local {
		s.keyFile = filepath.Join(s.spool, "key")
		if err := os.WriteFile(s.keyFile, []byte(newKey()), 0o600); err != nil {
			return nil, err
		}
	}
	key, err := readKey(s.keyFile)
	if err != nil {
		return nil, err
	}
	name, id := s.flags.session, c.Info().ID
	if name == "" {
		name = runname.New("", strings.ToLower(rand.Text()[:8]), time.Now(), s.lasts+topic.Retention).Mark()
	}
	s.topic, err = topic.Create(ctx, topic.Config{
		Brokers: c.Bootstrap(), Access: cluster.AccessTo(c), Session: name, Client: s.engine.in.logOptions(),
	})
	if err != nil {
		return nil, err
	}
	s.at = at
	s.lead = fleet.Open(fleet.Config{
		Session: fleet.Session{Name: name, Log: s.topic, Topic: s.topic.ID(), Key: key},
		Of:      s.flags.of(), Placed: s.flags.placed(), Senders: s.flags.senders, Tool: tool(), ClusterID: id,
		JoinTimeout: s.flags.joinTimeout, Spool: s.spool, Tell: s.tell,
	})
	if s.flags.local {
		return s.lead, s.startLocal(name, at, id, cluster.AccessTo(c))
	}
	s.tell(fmt.Sprintf("start the agents 0 to %d, each on its machine: %s", s.flags.of()-1,
		strings.Join(s.command(name, at, id, "INDEX"), " ")))
	return s.lead, nil
}

func (s *session) command(name, at, id, index string) []string {
	words := []string{
		"kafka-bench", "agent", "--session", name, "--index", index, "--of", strconv.Itoa(s.flags.of()), "--brokers", at,
		"--cluster-id", id,
	}
	if s.engine.access != "" && !s.flags.local {
		words = append(words, "--command-config", s.engine.access)
	}
	if s.keyFile != "" {
		words = append(words, "--key", s.keyFile)
	}
	return words
}

const endTimeout = 10 * time.Second

func (s *session) close() error {
	if s.topic == nil {
		return os.RemoveAll(s.spool)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*endTimeout)
	defer cancel()
	var failed error
	if s.lead != nil {
		failed = s.lead.Close(ctx)
		failed = errors.Join(failed, s.endLocal())
	}
	failed = errors.Join(failed, s.topic.Delete(ctx))
	s.topic.Close()
	failed = errors.Join(failed, os.RemoveAll(s.spool))
	s.topic, s.lead, s.local, s.spool = nil, nil, nil, ""
	return failed
}
