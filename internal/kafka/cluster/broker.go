package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Broker is one broker that this process has started. Its methods are safe for concurrent use.
type Broker struct {
	place
	kafka *Kafka

	mu      sync.Mutex
	child   *child // nil before the first start
	excused bool
	frozen  bool
}

// ID returns the broker ID, from 1.
func (b *Broker) ID() int32 { return b.id }

// Addr returns the address for clients, host:port. A restart keeps it.
func (b *Broker) Addr() string { return b.addr() }

// LogPath returns the path of the broker's log file.
func (b *Broker) LogPath() string { return b.kafka.layout.logPath(b.id) }

// PID returns the number of the broker's process, or of its last one.
func (b *Broker) PID() int { return b.current().PID }

// Alive reports whether the broker's process exists, also while it is paused.
func (b *Broker) Alive() bool {
	c := b.current()
	return c != nil && !c.exited()
}

// Signal sends sig to the broker's process. If the broker is not running, the error is os.ErrProcessDone.
func (b *Broker) Signal(sig syscall.Signal) error {
	if sig == syscall.SIGKILL || sig == syscall.SIGTERM || sig == syscall.SIGINT {
		b.excuse()
	}
	if err := b.current().signal(sig); err != nil {
		return fmt.Errorf("broker %d: %w", b.id, err)
	}
	return nil
}

// Kill kills the broker (SIGKILL) and waits until its process has ended.
func (b *Broker) Kill() {
	b.excuse()
	b.current().kill()
}

// Pause stops the broker's process (SIGSTOP) until Resume. Its connections stay open, and the cluster fences the
// broker when its session expires.
func (b *Broker) Pause() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.child.exited():
		return fmt.Errorf("broker %d is not running", b.id)
	case b.frozen:
		return fmt.Errorf("broker %d is paused already", b.id)
	}
	if err := b.child.signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("broker %d: %w", b.id, err)
	}
	b.frozen = true
	return nil
}

// Resume continues a paused broker (SIGCONT).
func (b *Broker) Resume() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.frozen {
		return fmt.Errorf("broker %d is not paused", b.id)
	}
	b.frozen = false
	if err := b.child.signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("broker %d: %w", b.id, err)
	}
	return nil
}

// Paused reports whether the broker is paused.
func (b *Broker) Paused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.frozen && !b.child.exited()
}

// orderlyGrace lets a broker move its leaderships, and a controller wait for a successor.
const orderlyGrace = 30 * time.Second

// Stop does a controlled shutdown (SIGTERM), which first moves the broker's leaderships, and waits until the
// process has ended. If ctx ends or 30 s pass, it kills the broker and returns an error.
func (b *Broker) Stop(ctx context.Context) error {
	if !b.Alive() {
		return fmt.Errorf("broker %d is not running", b.id)
	}
	if !b.shutdown(ctx, orderlyGrace) {
		return fmt.Errorf("broker %d did not stop in order within %v, and was killed", b.id, orderlyGrace)
	}
	return nil
}

// Start starts a broker that is not running, on the same data and ports, and waits until it is ready. After a Kill,
// the broker's session must expire first (broker.session.timeout.ms, 9 s by default).
func (b *Broker) Start(ctx context.Context) error {
	if b.Alive() {
		return fmt.Errorf("broker %d is running", b.id)
	}
	if err := b.start(); err != nil {
		return err
	}
	return awaitReady(ctx, []*Broker{b}, b.kafka.serving())
}

// Restart stops the broker if it runs, and starts it.
func (b *Broker) Restart(ctx context.Context) error {
	b.shutdown(ctx, stopGrace)
	return b.Start(ctx)
}

// shutdown kills the broker when grace or ctx ends, and reports whether the broker ended before.
func (b *Broker) shutdown(ctx context.Context, grace time.Duration) (orderly bool) {
	b.excuse()
	c := b.current()
	_ = c.signal(syscall.SIGTERM) // it may have ended already
	_ = c.signal(syscall.SIGCONT) // a paused process can't handle SIGTERM
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
	case <-time.After(grace):
	}
	c.kill()
	return false
}

func (b *Broker) current() *child {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.child
}

func (b *Broker) excuse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.excused = true
}

func (b *Broker) deserted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.child != nil && b.child.exited() && !b.excused
}

func (b *Broker) formatAndStart(ctx context.Context) error {
	if err := b.format(ctx); err != nil {
		return err
	}
	return b.start()
}

func (b *Broker) format(ctx context.Context) error {
	l := b.kafka.layout
	if err := os.WriteFile(l.configPath(b.id), formatProperties(l.brokerProperties(b.place, b.kafka.shared)),
		0o644); err != nil {
		return fmt.Errorf("broker %d: %w", b.id, err)
	}
	if b.kafka.kept != nil {
		return nil // a folder that has lost its data must not be formatted as a new one
	}
	// The tool runs for half a second: the better compiler and the parallel collector cost more than
	// they save.
	cmd := b.kafka.command(b.id, []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"},
		"kafka.tools.StorageTool", "format", "--cluster-id", l.clusterID, "--config", l.configPath(b.id))
	c, err := runLogged(cmd, l.formatOutPath(b.id), false)
	if err != nil {
		return fmt.Errorf("broker %d: format its storage: %w", b.id, err)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		c.kill()
		return ctx.Err()
	}
	if c.state.Success() {
		return nil
	}
	return &Error{
		Kind: ErrUnavailable, What: fmt.Sprintf("Kafka's StorageTool refused to format broker %d (%v)", b.id, c.state),
		Remedy: "check the cluster's config and jvm settings", Log: tailFile(l.formatOutPath(b.id), tailLines),
	}
}

// start does not wait until the broker is ready.
func (b *Broker) start() error {
	l := b.kafka.layout
	jvm := append(jvmOptions(b.kafka.opts.HeapBytes, b.kafka.opts.JVM), b.kafka.agentOption(b.place)...)
	cmd := b.kafka.command(b.id, jvm, "kafka.Kafka", l.configPath(b.id))
	c, err := runLogged(cmd, l.outPath(b.id), b.kafka.detached)
	if err != nil {
		return fmt.Errorf("broker %d: %w", b.id, err)
	}
	b.mu.Lock()
	b.child, b.excused, b.frozen = c, false, false
	b.mu.Unlock()
	if err := writeJSON(l.pidPath(b.id), c.identity); err != nil {
		b.Kill()
		return fmt.Errorf("broker %d: %w", b.id, err)
	}
	return nil
}

func runLogged(cmd *exec.Cmd, path string, detached bool) (*child, error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	return startChild(cmd, detached)
}

const tailLines = 12

func (b *Broker) logTail() []string {
	l := b.kafka.layout
	return append(tailFile(l.outPath(b.id), tailLines/3), tailFile(l.logPath(b.id), tailLines)...)
}

var errPortTaken = errors.New("a port of the broker is taken")

func (b *Broker) deathError(what string) error {
	e := &Error{
		Kind: ErrUnavailable, What: fmt.Sprintf("broker %d %s (%v)", b.id, what, b.current().state),
		Remedy: "the end of its log shows why; check the cluster's config, jvm and heap settings", Log: b.logTail(),
	}
	if strings.Contains(strings.Join(e.Log, "\n"), "Address already in use") {
		e.Cause = errPortTaken
		e.Remedy = "stop the process that listens there"
	}
	return e
}
