package fleet

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/clock"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
	"kafkabench.example/kafka-bench/internal/run/fleet/echo"
	"kafkabench.example/kafka-bench/internal/run/judge"
)

// Clock says how an agent compares its clock with the clocks of other agents.
type Clock struct {
	// Boot identifies the clock. Agents with one boot know each other's offset exactly.
	Boot echo.Boot
	// Conn answers questions for the time at Addr; an empty Addr is Conn's address. Without Conn,
	// other agents ask over the log, and the error is some milliseconds.
	Conn net.PacketConn
	Addr string
	// Resolve returns the address of another agent; nil resolves UDP addresses.
	Resolve func(addr string) (net.Addr, error)
	// NowNs reads the agent's clock; nil means the clock of Bench.Probes.
	NowNs func() int64
	// SlewNs returns by how much the clock was slewed (echo.Clock); nil means that it never is.
	SlewNs func() int64
}

const (
	readyAgain = 2 * time.Second // between repetitions of an agent's offset
	logEvery   = 500 * time.Millisecond
	settleFor  = 10 * time.Second // for clocks that do not answer after the run
	mostEchoes = 64
)

type clocks struct {
	cfg   Clock
	index int
	clock echo.Clock
	node  *echo.Node
	m     *member

	end     func()
	answers chan answer // beyond its capacity, answers are dropped, and the asker asks again

	mu      sync.Mutex
	peers   map[int]peerClock
	number  int64
	asked   map[int64]asked
	lastAsk int64
	running sync.WaitGroup
}

type peerClock struct {
	instance uint64
	exact    *int64 // offset if both share a clock; else nil
}

type asked struct{ sentNs, slewNs int64 }

type answer struct {
	run  int
	echo control.Echo
}

func openClocks(cfg AgentConfig, now func() int64) (*clocks, error) {
	c := &clocks{
		cfg: cfg.Clock, index: cfg.Index, clock: echo.Clock{NowNs: now, SlewNs: cfg.Clock.SlewNs},
		answers: make(chan answer, mostEchoes), peers: make(map[int]peerClock), asked: make(map[int64]asked),
	}
	if c.cfg.NowNs != nil {
		c.clock.NowNs = c.cfg.NowNs
	}
	if c.clock.SlewNs == nil {
		c.clock.SlewNs = func() int64 { return 0 }
	}
	if c.cfg.Resolve == nil {
		c.cfg.Resolve = func(addr string) (net.Addr, error) { return net.ResolveUDPAddr("udp", addr) }
	}
	var err error
	c.node, err = echo.Open(echo.Config{Conn: c.cfg.Conn, Clock: c.clock, Key: cfg.Session.Key, Number: uint32(cfg.Index)})
	return c, err
}

func (c *clocks) addr() string {
	if c.cfg.Addr == "" && c.cfg.Conn != nil {
		return c.cfg.Conn.LocalAddr().String()
	}
	return c.cfg.Addr
}

func (c *clocks) start(ctx context.Context, m *member) {
	ctx, c.end = context.WithCancel(ctx)
	c.mu.Lock()
	c.m = m
	c.mu.Unlock()
	c.running.Go(func() {
		for {
			select {
			case a := <-c.answers:
				a.echo.SlewNs = c.clock.SlewNs()
				a.echo.AnsweredNs = c.clock.NowNs()
				_ = m.writer.Write(ctx, a.run, a.echo) // on an error the asker asks again
			case <-ctx.Done():
				return
			}
		}
	})
}

func (c *clocks) close() {
	c.end()
	c.running.Wait()
	_ = c.node.Close()
}

func (c *clocks) heard(change control.Change) {
	e, now := change.Echo, c.clock.NowNs()
	switch {
	case e == nil || change.Effect != control.Applied:
	case slices.Contains(e.Of, c.index):
		select {
		case c.answers <- answer{change.Record.Run, control.Echo{Asker: e.Asker, Number: e.Number, HeardNs: now}}:
		default:
		}
	case len(e.Of) == 0:
		c.prove(change.Record, *e, now)
	}
}

func (c *clocks) prove(from control.Record, e control.Echo, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q, is := c.asked[e.Number]
	if !is || c.m == nil || e.Asker != c.m.instance || c.peers[from.Agent].instance != from.Instance {
		return
	}
	_ = c.node.Add(uint32(from.Agent), clock.Echo{ // on an error the agent is asked again
		SentNs: q.sentNs, HeardNs: e.HeardNs, AnsweredNs: e.AnsweredNs, ReceivedNs: now,
		OwnSlewNs: q.slewNs, PeerSlewNs: e.SlewNs,
	})
}

// wanted returns the agents whose clocks a part needs: agent 0 and, if the part receives, all
// agents that send.
func wanted(plan bench.Plan, s scenario.Scenario, index int) (agents []int) {
	_, members := plan.Workers(s, index)
	for i := range plan.Parts {
		producers, _ := plan.Workers(s, i)
		if i != index && (i == 0 || len(members) > 0 && len(producers) > 0) {
			agents = append(agents, i)
		}
	}
	return agents
}

func (c *clocks) ask(agents []int, s *control.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range agents {
		a, valid := s.Agent(i)
		if !valid || c.peers[i].instance == a.Instance {
			continue
		}
		c.node.Forget(uint32(i))
		p := peerClock{instance: a.Instance}
		there := echo.Boot{ID: a.Hello.BootID, MonotonicNs: a.Hello.ClockShiftNs}
		if ns, shared := c.cfg.Boot.Offset(there); shared {
			p.exact = &ns
		} else {
			peer := echo.Peer{Number: uint32(i)}
			if a.Hello.ClockAddr != "" {
				if at, err := c.cfg.Resolve(a.Hello.ClockAddr); err == nil { // else it counts as silent
					peer.Addr = at
				}
			}
			_ = c.node.Ask(peer) // cannot fail after Forget
		}
		c.peers[i] = p
	}
}

func (c *clocks) exact(agent int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return agent == c.index || c.peers[agent].exact != nil
}

func (c *clocks) at(agent int, ns int64) (clock.Bound, bool) {
	if agent == c.index {
		return clock.Bound{}, true
	}
	c.mu.Lock()
	p, asked := c.peers[agent]
	c.mu.Unlock()
	if p.exact != nil {
		return clock.Bound{OffsetNs: *p.exact}, true
	}
	if !asked {
		return clock.Bound{}, false
	}
	return c.node.At(uint32(agent), ns)
}

// over returns the greatest error of a used offset between two times of this agent's clock.
func (c *clocks) over(agent int, from, to, used int64) (clock.Bound, bool) {
	if c.exact(agent) {
		b, _ := c.at(agent, to)
		return clock.Bound{OffsetNs: used, ErrorNs: max(b.OffsetNs-used, used-b.OffsetNs)}, true
	}
	return c.node.Over(uint32(agent), from, to, used)
}

// know reports whether all agents' clocks are known. Over the log, it asks the agents that do not
// answer by UDP.
func (c *clocks) know(ctx context.Context, run int, agents []int, now int64) bool {
	unknown := slices.DeleteFunc(slices.Clone(agents), func(i int) bool {
		_, known := c.at(i, now)
		return known && (c.exact(i) || !c.node.Silent(uint32(i)))
	})
	c.askLog(ctx, run, unknown)
	return !slices.ContainsFunc(unknown, func(i int) bool { _, known := c.at(i, now); return !known })
}

func (c *clocks) askLog(ctx context.Context, run int, agents []int) {
	agents = slices.DeleteFunc(slices.Clone(agents), func(i int) bool { return !c.node.Silent(uint32(i)) })
	now := c.clock.NowNs()
	c.mu.Lock()
	if len(agents) == 0 || c.number > 0 && now-c.lastAsk < int64(logEvery) {
		c.mu.Unlock()
		return
	}
	c.number++
	c.lastAsk = now
	delete(c.asked, c.number-mostEchoes)
	number, instance := c.number, c.m.instance
	c.asked[number] = asked{slewNs: c.clock.SlewNs(), sentNs: c.clock.NowNs()}
	c.mu.Unlock()
	_ = c.m.writer.Write(ctx, run, control.Echo{Of: agents, Asker: instance, Number: number}) // the next question follows soon
}

type seenClocks struct {
	clocks  *clocks
	zeroNs  int64 // the start on this agent's clock
	implied int64 // agent 0's offset, if the start is the same moment on both clocks

	mu    sync.Mutex
	start *int64 // error at the start; nil until known
	all   []*seenClock
}

type seenClock struct {
	agent            int
	used             int64 // the offset that the part uses
	sinceNs, errorNs int64 // errorNs is the error until sinceNs
}

// see notes the offsets that this part uses. zeroNs is the window's start on this agent's clock.
func (c *clocks) see(agents []int, zeroNs, implied int64) *seenClocks {
	s := &seenClocks{clocks: c, zeroNs: zeroNs, implied: implied}
	now := c.clock.NowNs()
	for _, i := range agents {
		b, _ := c.at(i, zeroNs) // known, or the agent would not be ready
		s.all = append(s.all, &seenClock{agent: i, used: b.OffsetNs, sinceNs: now})
	}
	return s
}

func (s *seenClocks) tell(say func(format string, args ...any)) {
	for _, w := range s.all {
		if b, _ := s.clocks.at(w.agent, s.zeroNs); !s.clocks.exact(w.agent) {
			say("the clock of agent %d is ahead by %d ns, within %d ns", w.agent, w.used, b.ErrorNs)
		}
	}
}

// watch calls look before package echo forgets the echoes that prove the errors.
func (s *seenClocks) watch(ctx context.Context) {
	for ctx.Err() == nil {
		s.look(s.clocks.clock.NowNs() - int64(time.Second))
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// look updates the errors up to untilNs, and returns the agents whose errors are not known yet.
func (s *seenClocks) look(untilNs int64) (unknown []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.start == nil && untilNs >= s.zeroNs {
		if b, known := s.clocks.over(0, s.zeroNs, s.zeroNs, s.implied); known {
			s.start = &b.ErrorNs
		} else {
			unknown = append(unknown, 0)
		}
	}
	for _, w := range s.all {
		if untilNs <= w.sinceNs {
			continue
		}
		if b, known := s.clocks.over(w.agent, w.sinceNs, untilNs, w.used); known {
			w.errorNs, w.sinceNs = max(w.errorNs, b.ErrorNs), untilNs
		} else {
			unknown = append(unknown, w.agent)
		}
	}
	return unknown
}

// conclude waits for the errors up to now. It gives up if a clock was stepped or does not answer
// for settleFor.
func (s *seenClocks) conclude(ctx context.Context, run int) (known judge.Clocks) {
	now := s.clocks.clock.NowNs()
	ctx, cancel := context.WithTimeout(ctx, settleFor)
	defer cancel()
	unknown := s.look(now)
	for len(unknown) > 0 && ctx.Err() == nil {
		pending := slices.DeleteFunc(unknown, func(i int) bool {
			_, proved := s.clocks.over(i, now, now, 0)
			return proved // no later answer says more
		})
		if len(pending) == 0 {
			break
		}
		s.clocks.askLog(ctx, run, pending)
		select {
		case <-time.After(echo.Every):
		case <-ctx.Done():
		}
		unknown = s.look(now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known.StartErrorNs = s.start
	worst := int64(0)
	for _, w := range s.all {
		if w.sinceNs < now {
			return known
		}
		worst = max(worst, w.errorNs)
	}
	known.ErrorNs = &worst
	return known
}
