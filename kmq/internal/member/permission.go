package member

import (
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
)

// deniedFor is how long a missing permission may last before it ends the member: a mistake in an ACL is often mended.
const deniedFor = time.Minute

// denials notes for how long the cluster has denied something, since the last success.
type denials struct{ since, last time.Time }

// endMember reports whether an error ends the member.
func (d *denials) endMember(err error) bool {
	if !engine.Denied(err) {
		return engine.Fatal(err)
	}
	now := time.Now()
	if d.since.IsZero() || now.Sub(d.last) >= deniedFor {
		d.since = now
	}
	d.last = now
	return now.Sub(d.since) >= deniedFor
}
