package backpressure

import (
	"context"
	"errors"
)

// PipeConfig says how a [Pipe] works.
type PipeConfig[T any] struct {
	// Excess is what becomes of items that the gate does not admit at once; Defer
	// where it is not set.
	Excess Excess
	// Degrade is asked, under that policy, for each item that is not admitted at
	// once. It returns what to send instead, which then waits for the gate, or false
	// to drop the item. Nil drops all.
	Degrade func(T) (T, bool)
	// OnShed is told of each item that is dropped, and why; nil is nobody. The item
	// that is under way when ctx ends is dropped too: ShedByClose.
	OnShed func(T, ShedReason)
	// Records is how many records an item is; nil is one.
	Records func(T) int64
}

// Pipe passes on what comes from in, as the gate admits it, to the channel of a
// client that takes records that way: sarama's AsyncProducer.Input() or
// confluent-kafka-go's ProduceChannel(). It returns nil when in is closed, or the
// error of ctx; out stays open, as it is the client's. An item of more records
// than the bound can hold at once is dropped, and the pipe goes on.
//
// The pipe cannot see what becomes of a record. Whoever reads the client's
// reports must tell the gate: Done for an acknowledgement or an error that means
// that the record is not in the log, Unsure for a timeout, and Acked before Done
// if the gate has a share. Without that the bound fills up and the pipe stands
// still.
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
				gate.Done(n) // admitted and not sent
				cfg.shed(item, ShedByClose)
				return ctx.Err()
			}
		}
	}
}

// admit gets an item through the gate. It returns what to send and how many
// records that is, 0 if it was dropped.
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

// wait waits until an item of n records is admitted.
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
