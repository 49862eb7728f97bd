package backpressure

import (
	"context"
	"errors"
)

// PipeConfig configures a [Pipe].
type PipeConfig[T any] struct {
	// Excess is the policy for items that the gate does not admit at once; the default is Defer.
	Excess Excess
	// Degrade is called for each item that is not admitted at once, if Excess is Degrade. It
	// returns the item to send instead, which then waits for the gate, or false to drop it. Nil
	// drops all these items.
	Degrade func(T) (T, bool)
	// OnShed is called with each dropped item and the reason; nil is never called. An item that
	// waits when ctx ends is dropped too, with ShedByClose.
	OnShed func(T, ShedReason)
	// Records returns how many records an item counts as, at least 1; nil means 1.
	Records func(T) int64
}

// Pipe passes items from in to out when the gate admits them. Out is a client's input channel:
// sarama's AsyncProducer.Input() or confluent-kafka-go's ProduceChannel(). Pipe returns nil when in
// is closed, or the error of ctx. It does not close out. It drops an item of more records than the
// bound can hold.
//
// The application reads the client's reports and calls the gate: Done for an acknowledgement, or
// for a record that is certainly not in the log; Unsure for a timeout. If the gate has a share,
// call Acked before Done.
func Pipe[T any](ctx context.Context, gate *Gate, in <-chan T, out chan<- T, cfg PipeConfig[T]) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case item, more := <-in:
			if !more {
				return nil
			}
			item, n, err := cfg.admit(ctx, gate, item)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			select {
			case out <- item:
			case <-ctx.Done():
				gate.Done(n)
				cfg.shed(item, ShedByClose)
				return ctx.Err()
			}
		}
	}
}

// admit returns the item to send and its number of records; 0 if the item was dropped.
func (cfg *PipeConfig[T]) admit(ctx context.Context, gate *Gate, item T) (T, int64, error) {
	n := cfg.records(item)
	if cfg.Excess == Defer {
		return cfg.wait(ctx, gate, item, n)
	}
	if gate.TryAcquire(n) {
		return item, n, nil
	}
	if cfg.Excess == Shed {
		why := ShedByGate
		if n > gate.most {
			why = ShedBySize
		}
		cfg.shed(item, why)
		return item, 0, nil
	}
	instead, keep := item, false
	if cfg.Degrade != nil {
		instead, keep = cfg.Degrade(item)
	}
	if !keep {
		cfg.shed(item, ShedByDegrade)
		return item, 0, nil
	}
	return cfg.wait(ctx, gate, instead, cfg.records(instead))
}

func (cfg *PipeConfig[T]) wait(ctx context.Context, gate *Gate, item T, n int64) (T, int64, error) {
	err := gate.Acquire(ctx, n)
	switch {
	case err == nil:
		return item, n, nil
	case errors.Is(err, ErrNever):
		cfg.shed(item, ShedBySize)
		return item, 0, nil
	}
	cfg.shed(item, ShedByClose)
	return item, 0, err
}

func (cfg *PipeConfig[T]) records(item T) int64 {
	if cfg.Records == nil {
		return 1
	}
	return max(cfg.Records(item), 1)
}

func (cfg *PipeConfig[T]) shed(item T, why ShedReason) {
	if cfg.OnShed != nil {
		cfg.OnShed(item, why)
	}
}
