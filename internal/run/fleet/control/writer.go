package control

import (
	"context"
	"encoding/json"
	"fmt"
)

// Writer appends one process's records, in the order of their sequence. It is safe for concurrent
// use.
type Writer struct {
	log      Log
	key      Key
	topic    [16]byte
	agent    int
	instance uint64

	turn     chan struct{} // holds an element while no write is under way
	sequence uint64        // of the last record sealed
	pending  []byte        // sealed, but perhaps not in the log
}

// NewWriter returns a process's writer. agent is its index, or Coordinator; instance is random and
// not 0; topic is the ID of the log's topic.
func NewWriter(log Log, key Key, topic [16]byte, agent int, instance uint64) *Writer {
	w := &Writer{log: log, key: key, topic: topic, agent: agent, instance: instance, turn: make(chan struct{}, 1)}
	w.turn <- struct{}{}
	return w
}

// Write appends a record of a run after all earlier ones, and waits until it is in the log. After
// an error it may be in the log or not. The next call first appends the same bytes again.
func (w *Writer) Write(ctx context.Context, run int, body Body) error {
	return w.inTurn(ctx, func() error { return w.write(ctx, run, body) })
}

// Offer is Write if no other call is under way; else it does nothing and returns false.
func (w *Writer) Offer(ctx context.Context, run int, body Body) (taken bool, err error) {
	select {
	case <-w.turn:
		defer func() { w.turn <- struct{}{} }()
		return true, w.write(ctx, run, body)
	default:
		return false, nil
	}
}

// HandIn appends a snapshot in pieces. The number counts a run's snapshots from 0. After an error,
// call it again with the same snapshot.
func (w *Writer) HandIn(ctx context.Context, run, number int, snapshot []byte, last bool) error {
	return w.inTurn(ctx, func() error {
		pieces := max(1, (len(snapshot)+MaxBody-1)/MaxBody)
		for piece := range pieces {
			from := piece * MaxBody
			err := w.append(ctx, Record{
				Kind: KindSnapshot, Run: run, Number: number, Piece: piece, Pieces: pieces, Last: last,
				Body: snapshot[from:min(from+MaxBody, len(snapshot))],
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *Writer) inTurn(ctx context.Context, do func() error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.turn:
	}
	defer func() { w.turn <- struct{}{} }()
	return do()
}

func (w *Writer) write(ctx context.Context, run int, body Body) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("control log: %v: %w", body.Kind(), err)
	}
	return w.append(ctx, Record{Kind: body.Kind(), Run: run, Pieces: 1, Body: text})
}

func (w *Writer) append(ctx context.Context, r Record) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	r.Agent, r.Instance, r.Sequence = w.agent, w.instance, w.sequence+1
	sealed, err := Seal(w.key, w.topic, r)
	if err != nil {
		return fmt.Errorf("control log: %w", err)
	}
	w.sequence, w.pending = r.Sequence, sealed
	return w.settle(ctx)
}

func (w *Writer) settle(ctx context.Context) error {
	if w.pending == nil {
		return nil
	}
	if err := w.log.Append(ctx, w.pending); err != nil {
		return fmt.Errorf("control log: %w", err)
	}
	w.pending = nil
	return nil
}
