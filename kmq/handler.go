package kmq

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Handler processes one record. Nil acknowledges it, [Reject] gives it up, [After] asks for it again without counting the
// attempt, and any other error is a failed attempt: the record is delivered again after [Config.Retry]. A handler may
// settle or extend the delivery itself; after it has settled the delivery, the handler's result is ignored.
//
// A panic is a failed attempt, as [RunConfig.OnPanic] says.
type Handler func(ctx context.Context, d Delivery) error

// Middleware wraps a handler, for example to measure, to trace or to translate errors.
type Middleware func(Handler) Handler

// JSON returns a handler of values that the records hold as JSON. A record that is not the JSON of a T is rejected, with
// the decoder's error as the reason.
func JSON[T any](handle func(ctx context.Context, value T) error) Handler {
	return func(ctx context.Context, d Delivery) error {
		var value T
		if err := json.Unmarshal(d.Record.Value, &value); err != nil {
			return Reject{Reason: fmt.Sprintf("the value is not the JSON of a %T: %v", value, err)}
		}
		return handle(ctx, value)
	}
}

// Order says which records may be processed at the same time.
type Order string

// With OffsetMap and Plain, a record of an ordered queue begins only when the one before it in its partition or key has
// ended for good, whatever its handler returned. With Markers, orders apply to first deliveries. Share supports only
// Unordered.
const (
	Unordered   Order = "none"      // any records; workers may outnumber partitions
	ByPartition Order = "partition" // one of each partition, in offset order
	ByKey       Order = "key"       // one of each key, in offset order; records without a key in any order
)

// RunConfig says how [Queue.Run] calls the handler. In each field, zero means the default.
type RunConfig struct {
	// Workers is the largest number of running handlers. The default is 16; the range is 1 to [MaxWorkers].
	Workers int
	// Timeout is how long a handler may work on a record. Run renews the lock for so long; then the handler's context
	// ends with the cause [ErrExpired], and the attempt has failed. The default is 5 min; the range is 1 ms to 12 h. A
	// handler may extend its lock beyond Timeout itself.
	Timeout time.Duration
	// Shutdown is how long running handlers may go on after the context of Run has ended. The default is 20 s; the
	// range is 1 ns to 12 h.
	Shutdown time.Duration
	// OnPanic says what a panic of a handler does. The default is FailAttempt.
	OnPanic OnPanic
	// Middleware wraps the handler. The first one is the outermost.
	Middleware []Middleware
}

// OnPanic says what a panic of a handler does.
type OnPanic string

// The values of OnPanic. A handler that calls runtime.Goexit, as testing.T.FailNow does, counts as one that panics.
const (
	FailAttempt OnPanic = "fail"  // the attempt has failed; the panic is logged, and its stack is kept for the dead letter
	Crash       OnPanic = "crash" // Run releases the record, ends, and panics with a [HandlerPanic]
)

const defaultWorkers = 16

// MaxWorkers is the largest number of workers for [Queue.Run].
const MaxWorkers = 100_000

// HandlerPanic is the value with which [Queue.Run] panics after a handler panicked, with [Crash].
type HandlerPanic struct {
	Value any    // nil if the handler called runtime.Goexit
	Stack []byte // of the handler
}

// Error returns the panic value and the stack.
func (p *HandlerPanic) Error() string {
	return fmt.Sprintf("kmq: a handler panicked: %v\n%s", p.Value, p.Stack)
}

// resolve fills in defaults, and wraps the handler with the middleware.
func (c *RunConfig) resolve(handle Handler) (Handler, error) {
	m := new(mistakes)
	if handle == nil {
		m.add("Run has no handler")
	}
	if slices.ContainsFunc(c.Middleware, func(w Middleware) bool { return w == nil }) {
		m.add("Middleware has a nil")
	}
	m.count("Workers", &c.Workers, defaultWorkers, 1, MaxWorkers)
	m.between("Timeout", &c.Timeout, 5*time.Minute, time.Millisecond, MaxDelay)
	m.between("Shutdown", &c.Shutdown, 20*time.Second, 1, MaxDelay)
	switch c.OnPanic {
	case "":
		c.OnPanic = FailAttempt
	case FailAttempt, Crash:
	default:
		m.add("OnPanic is %q: choose %s or %s", c.OnPanic, FailAttempt, Crash)
	}
	if err := m.err(); err != nil {
		return nil, err
	}
	for _, wrap := range slices.Backward(c.Middleware) {
		handle = wrap(handle)
	}
	return handle, nil
}
