package crash

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

const (
	childEnv    = "KMQ_CRASH_CHILD"
	childFailed = 3
	orderClose  = "close\n" // on standard input
)

type childSpec struct {
	Name    string
	Journal string
	Role    string
	Queue   queueSpec
	Workers int
	Batch   int
	Seed    uint64
	// Kill ends the process at its KillAt-th time at a step; empty: never.
	Kill   step.Step
	KillAt int
	// Careful acknowledges everything at once.
	Careful bool
	Killer  int // with roleHandler: the record whose handler ends the process
	Work    time.Duration
	Verbose bool
	ends    []error // errors after which a queue is opened again; not encoded
}

const (
	roleQueue   = "queue"
	roleTracker = "tracker"
	roleHandler = "handler"
)

type queueSpec struct {
	Brokers       []string
	dial          access.Dial // not encoded; nil: the system's
	Topic, Group  string
	Engine        string
	Partitions    int32
	Born          time.Time
	Visibility    time.Duration
	MaxDeliveries int
	DeadLetters   string
	MaxInFlight   int
	External      bool // trackers of other processes
	Session       time.Duration
	Heartbeat     time.Duration
	TopicConfigs  map[string]string // override the test's own for the queue's topic
}

func (q queueSpec) retryTopic() string { return q.Topic + "." + q.Group + ".retry" }

// The names of the engines.
const (
	plainEngine     = "plain"
	markersEngine   = "markers"
	offsetMapEngine = "offsetmap"
	shareEngine     = "share"
)

func (q queueSpec) engine() kmq.Engine {
	switch q.Engine {
	case plainEngine:
		return kmq.Plain{}
	case markersEngine:
		return kmq.Markers{ExternalTracker: q.External}
	case offsetMapEngine:
		return kmq.OffsetMap{InPlace: 20 * time.Millisecond} // so that some records wait, and some move
	default:
		return kmq.Share{}
	}
}

func (q queueSpec) config(log *slog.Logger) kmq.Config {
	cfg := kmq.Config{
		Brokers: q.Brokers, Topic: q.Topic, Group: q.Group, Engine: q.engine(),
		Visibility: q.Visibility, MaxDeliveries: q.MaxDeliveries, DeadLetterTopic: q.DeadLetters,
		MaxInFlight: q.MaxInFlight, CommitEvery: 50 * time.Millisecond,
		SessionTimeout: q.Session,
		Client: []kgo.Opt{
			kgo.HeartbeatInterval(q.Heartbeat), kgo.RebalanceTimeout(10 * time.Second), kgo.MetadataMinAge(50 * time.Millisecond),
			kgo.FetchMaxWait(250 * time.Millisecond),
		},
		Logger: log,
	}
	if q.dial != nil {
		cfg.Client = append(cfg.Client, kgo.Dialer(q.dial))
	}
	return cfg
}

func runChild(text string) error {
	var spec childSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	j, err := openJournal(spec.Journal, spec.Name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go obeyParent(cancel)
	c := &child{spec: spec, journal: j, life: context.Background(), steps: watchSteps(spec, j)}
	switch spec.Role {
	case roleTracker:
		err = c.track(ctx)
	case roleHandler:
		err = c.handle(ctx)
	default:
		err = c.consume(ctx)
	}
	if err != nil {
		return err
	}
	for s, n := range c.steps() {
		j.write(lineReached, s, n)
	}
	j.write(lineClosed)
	return nil
}

// obeyParent ends the child on order, and immediately when the parent is gone.
func obeyParent(cancel func()) {
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil || line != orderClose {
		os.Exit(childFailed)
	}
	cancel()
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		os.Exit(childFailed)
	}
}

// watchSteps counts steps and kills the process at the given one.
func watchSteps(spec childSpec, j *journal) func() map[step.Step]int64 {
	counts := make(map[step.Step]*atomic.Int64)
	for _, s := range step.All {
		counts[s] = new(atomic.Int64)
	}
	step.Hook = func(s step.Step) {
		n := counts[s].Add(1)
		if s != spec.Kill || n != int64(spec.KillAt) {
			return
		}
		j.write(lineKilled, s, n)
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(err)
		}
		select {}
	}
	return func() map[step.Step]int64 {
		reached := make(map[step.Step]int64)
		for s, n := range counts {
			if n := n.Load(); n > 0 {
				reached[s] = n
			}
		}
		return reached
	}
}

type child struct {
	spec    childSpec
	journal *journal
	life    context.Context
	steps   func() map[step.Step]int64
}

func (c *child) logger() *slog.Logger {
	to := slog.Default().Handler()
	if c.spec.Verbose {
		to = slog.NewTextHandler(os.Stderr, nil)
	}
	return slog.New(losses{to, c.journal}).With("child", c.spec.Name)
}

// losses writes into the journal when a process was put out of the group.
type losses struct {
	slog.Handler
	journal *journal
}

func (l losses) WithAttrs(attrs []slog.Attr) slog.Handler {
	return losses{l.Handler.WithAttrs(attrs), l.journal}
}

func (l losses) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "kmq: partitions lost") {
		l.journal.write(lineLost)
	}
	return l.Handler.Handle(ctx, r)
}

const closeTimeout = 20 * time.Second

func (c *child) track(ctx context.Context) error {
	t, err := kmq.OpenTracker(ctx, c.spec.Queue.config(c.logger()))
	if err != nil {
		return err
	}
	c.journal.write(lineOpened)
	if err := t.Wait(ctx); ctx.Err() == nil {
		c.journal.write(lineWrong, "the tracker has ended: ", err)
		<-ctx.Done()
	}
	ctx, cancel := context.WithTimeout(c.life, closeTimeout)
	defer cancel()
	defer c.stacksIfSlow().Stop()
	return c.closed(t.Close(ctx))
}

// killedByHandler is the exit code of a process that a handler has ended.
const killedByHandler = 4

// handle runs a handler, which is faster than the commits.
func (c *child) handle(ctx context.Context) error {
	cfg := c.spec.Queue.config(c.logger())
	cfg.CommitEvery = time.Second
	q, err := kmq.Open(ctx, cfg)
	if err != nil {
		return err
	}
	c.journal.write(lineOpened)
	err = q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
		c.delivered(d)
		n := numberOf(d.Record.Value)
		if n == c.spec.Killer {
			os.Exit(killedByHandler)
		}
		time.Sleep(c.spec.Work)
		c.journal.write(lineProcessed, n, d.Attempt())
		return nil
	}, kmq.RunConfig{Workers: c.spec.Workers})
	closing, cancel := context.WithTimeout(c.life, closeTimeout)
	defer cancel()
	return errors.Join(err, c.closed(q.Close(closing)))
}

const openAgain = 100 * time.Millisecond

// consume opens a queue, again after each allowed error.
func (c *child) consume(ctx context.Context) error {
	for {
		ended, err := c.consumeOnce(ctx)
		if ended == nil || err != nil {
			return err
		}
		time.Sleep(openAgain)
	}
}

func (c *child) consumeOnce(ctx context.Context) (ended, err error) {
	q, err := kmq.Open(ctx, c.spec.Queue.config(c.logger()))
	if err != nil {
		return nil, err
	}
	c.journal.write(lineOpened)
	said := make([]error, c.spec.Workers)
	var workers sync.WaitGroup
	for i := range said {
		workers.Go(func() { said[i] = c.work(ctx, q) })
	}
	workers.Wait()
	c.journal.write(lineClosing)
	closing, cancel := context.WithTimeout(c.life, closeTimeout)
	defer cancel()
	defer c.stacksIfSlow().Stop()
	return cmp.Or(said...), c.closed(q.Close(closing))
}

func (c *child) mayEnd(err error) bool {
	return slices.ContainsFunc(c.spec.ends, func(end error) bool { return errors.Is(err, end) })
}

// stacksIfSlow prints goroutines shortly before a Close times out, except a dead puppet's.
func (c *child) stacksIfSlow() *time.Timer {
	return time.AfterFunc(closeTimeout-2*time.Second, func() {
		if c.life.Err() != nil {
			return
		}
		if err := pprof.Lookup("goroutine").WriteTo(os.Stderr, 1); err != nil {
			panic(err)
		}
	})
}

// A removed member cannot commit, which is no mistake: others own its offsets.
func (c *child) closed(err error) error {
	for _, putOut := range []error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress} {
		if errors.Is(err, putOut) {
			c.journal.write(lineError, "close: put out")
			return nil
		}
	}
	// Records of refused acknowledgements may be redelivered.
	if c.spec.Queue.Engine == shareEngine && errors.Is(err, kmq.ErrLost) {
		c.journal.write(lineError, "close: acknowledgements were refused")
		return nil
	}
	// The group removes a member that cannot leave, and nothing is lost.
	if errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "leave group") {
		c.journal.write(lineError, "close: not out of the group in time")
		return nil
	}
	if c.mayEnd(err) {
		c.journal.write(lineError, "close: ", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

func (c *child) work(ctx context.Context, q *kmq.Queue) error {
	for {
		ds, err := q.Receive(ctx, c.spec.Batch)
		if ctx.Err() != nil || errors.Is(err, kmq.ErrClosed) {
			for _, d := range ds {
				c.delivered(d)
			}
			return nil
		}
		if c.mayEnd(err) {
			c.journal.write(lineEnded, err)
			return err
		}
		if err != nil {
			c.journal.write(lineWrong, "receive: ", err)
			return nil
		}
		// All deliveries are recorded first, since a record's next delivery may be in another process.
		for _, d := range ds {
			c.delivered(d)
		}
		for _, d := range ds {
			c.settle(ctx, d)
		}
	}
}

func (c *child) delivered(d kmq.Delivery) {
	n, deadline := numberOf(d.Record.Value), int64(0)
	if at := d.Deadline(); !at.IsZero() {
		deadline = at.UnixNano()
	}
	c.journal.write(lineDelivered, n, d.ID().Partition, d.ID().Offset, d.Attempt(), deadline, d.Record.Offset)
	if wrong := different(d.Record, c.spec.Queue.Partitions, c.spec.Queue.Born, n, false); wrong != "" {
		c.journal.write(lineWrong, fmt.Sprintf("record %d attempt %d: %s", n, d.Attempt(), wrong))
	}
}

type action int

const (
	ack action = iota
	ackSlowly
	extend
	release
	releaseLater
	reject
	drop
)

func poison(n int) bool { return n%101 == 100 }

func (s childSpec) planned(n, attempt int) action {
	h := fnv.New64a()
	fmt.Fprint(h, s.Seed, n, attempt)
	share := h.Sum64() % 100
	if s.Careful {
		return ack
	}
	if s.Queue.Engine == plainEngine {
		switch {
		case share < 4 && s.Queue.DeadLetters != "":
			return reject
		case share < 8:
			return ackSlowly
		}
		return ack
	}
	switch {
	case poison(n) && s.Queue.MaxDeliveries > 0:
		return release
	case share < 6:
		return drop
	case attempt > 1:
		return ack
	case share < 12:
		return release
	case share < 16:
		return releaseLater
	case share < 20 && s.Queue.DeadLetters != "":
		return reject
	case share < 24:
		return ackSlowly
	case share < 26:
		return extend
	}
	return ack
}

func (c *child) settle(ctx context.Context, d kmq.Delivery) {
	n := numberOf(d.Record.Value)
	settling, cancel := context.WithTimeout(c.life, closeTimeout)
	defer cancel()
	time.Sleep(c.spec.Work)
	var err error
	doing := c.spec.planned(n, d.Attempt())
	switch doing {
	case drop:
		return
	case release:
		c.journal.write(lineReleased, n, d.Attempt())
		err = d.Nack(settling, 0)
	case releaseLater:
		c.journal.write(lineReleased, n, d.Attempt())
		err = d.Nack(settling, 50*time.Millisecond)
	case reject:
		if err = c.reject(settling, d); err == nil {
			c.journal.write(lineRejected, n, d.Attempt())
		}
	case ackSlowly:
		time.Sleep(30 * time.Millisecond)
		err = c.ack(settling, d, n)
	case extend:
		if err = d.Extend(settling, c.spec.Queue.Visibility); err != nil {
			c.journal.write(lineError, "extend: ", err)
		}
		err = c.ack(settling, d, n)
	default:
		err = c.ack(settling, d, n)
	}
	if err == nil {
		return
	}
	for _, allowed := range refusals {
		if errors.Is(err, allowed) {
			c.journal.write(lineError, allowed)
			if errors.Is(allowed, kmq.ErrUnsupported) && doing != releaseLater {
				c.journal.write(lineWrong, fmt.Sprintf("record %d: %v", n, err))
			}
			return
		}
	}
	if doing == reject && c.mayEnd(err) {
		c.journal.write(lineError, "reject: ", err)
		return
	}
	c.journal.write(lineWrong, fmt.Sprintf("record %d attempt %d, action %d: %v", n, d.Attempt(), doing, err))
}

// Allowed errors of settling.
var refusals = []error{kmq.ErrExpired, kmq.ErrLost, kmq.ErrUnsupported}

// rejection is the reason of each Reject.
const rejection = "refused"

// reject retries while the delivery is open, as with Plain.
func (c *child) reject(ctx context.Context, d kmq.Delivery) error {
	for {
		err := d.Reject(ctx, rejection)
		if c.spec.Queue.Engine != plainEngine || !c.mayEnd(err) || ctx.Err() != nil {
			return err
		}
		c.journal.write(lineError, "reject: ", err)
		time.Sleep(50 * time.Millisecond)
	}
}

func (c *child) ack(ctx context.Context, d kmq.Delivery, n int) error {
	c.journal.write(lineProcessed, n, d.Attempt())
	return d.Ack(ctx)
}
