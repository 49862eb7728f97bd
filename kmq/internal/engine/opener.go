package engine

import "context"

// Opener opens an engine with a queue's configuration.
type Opener func(context.Context, Config) (Engine, error)

type openerKey struct{}

// WithOpener returns a context with which kmq.Open uses an engine of open. Package kmqtest has no other way in, and users
// of kmq have none.
func WithOpener(ctx context.Context, open Opener) context.Context {
	return context.WithValue(ctx, openerKey{}, open)
}

// OpenerOf returns the Opener of a context; nil if it has none.
func OpenerOf(ctx context.Context) Opener {
	open, _ := ctx.Value(openerKey{}).(Opener)
	return open
}
