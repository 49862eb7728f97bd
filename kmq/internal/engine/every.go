package engine

import (
	"context"
	"log/slog"
	"time"
)

// Every calls f once in each period until ctx ends, and logs an error of f at most once a minute. It skips periods
// that a long call covers.
func Every(ctx context.Context, period time.Duration, log *slog.Logger, what string, f func(context.Context) error) {
	trouble := NewComplaint(log)
	every := time.NewTicker(period)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		if err := f(ctx); err != nil && ctx.Err() == nil {
			trouble.About(what, err)
		}
	}
}
