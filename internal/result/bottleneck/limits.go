package bottleneck

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Limits: settings that cause waits. All but quotas and partitions depend on a duration (see
// timed).

func quota(j *judge) (finding, bool) {
	share, evidence := -1.0, ""
	for _, b := range byID(j.Broker) {
		for _, q := range requests(b) {
			if q.Type != "Produce" && q.Type != "FetchConsumer" || q.ThrottleMs == nil || q.TotalMs == nil {
				continue
			}
			if s := part(*q.ThrottleMs, *q.TotalMs); s > share {
				share = s
				evidence = fmt.Sprintf("broker %d held %s requests back for %s on average, and took %s for them",
					b.ID, q.Type, millis(*q.ThrottleMs), millis(*q.TotalMs))
			}
		}
	}
	if s, text := throttled(j.Clients); s > share {
		share, evidence = s, text
	}
	return found(Quota, limit, share, "raise the quota of the client, or its user", "%s", evidence)
}

// throttled returns the part of their connections' time for which quotas held the clients' requests back;
// below 0 if they did not.
func throttled(c *result.Clients) (share float64, evidence string) {
	share = -1
	if c == nil || c.ReadOverS <= 0 {
		return share, ""
	}
	for _, of := range []struct {
		kind string
		*result.ClientRequests
	}{{"Produce", c.Produce}, {"Fetch", c.Fetch}} {
		if of.ClientRequests == nil || of.ThrottledS <= 0 || of.Connections == 0 {
			continue
		}
		if s := min(1, of.ThrottledS/(c.ReadOverS*float64(of.Connections))); s > share {
			share = s
			evidence = fmt.Sprintf("a quota of the brokers throttled the clients' %s requests for %s of their connections' time", of.kind, percent(s))
		}
	}
	return share, evidence
}

func requests(b result.Broker) []result.RequestUse {
	if b.Metrics == nil {
		return nil
	}
	return b.Metrics.Requests
}

func part(a, b float64) float64 {
	if a <= 0 || a+b <= 0 {
		return 0
	}
	return a / (a + b)
}

func gate(j *judge) (finding, bool) {
	b := j.Backpressure
	if b == nil {
		return unknown()
	}
	share := b.ClosedS / j.window
	return j.timed(found(Gate, limit, share,
		"the consumers decide; if they have capacity left, allow more lag (backpressure.max_lag)",
		"the gate refused records for %s of the window", percent(min(1, share))))
}

func partitions(j *judge) (finding, bool) {
	c, n := j.Consumer, j.partitions()
	if c.Utilisation == nil || n <= 0 || c.Workers <= n {
		return unknown()
	}
	share := *c.Utilisation * float64(c.Workers) / float64(n)
	return found(Partitions, limit, share, "make more partitions: a partition has one consumer at a time",
		"%d partitions for %d workers, and those that have one were busy for %s of the window", n, c.Workers, percent(min(1, share)))
}

func fetchSize(j *judge) (finding, bool) {
	f := fetches(j)
	if f == nil || f.BytesPerRequest == nil || f.Connections == 0 {
		return unknown()
	}
	bound := j.responseBound(f)
	if bound <= 0 {
		return unknown()
	}
	full, waiting := min(1, *f.BytesPerRequest/bound), min(1, f.InFlightMean/float64(f.Connections))
	return j.timed(found(FetchSize, limit, full*waiting, "raise consume.fetch.max_partition_bytes and max_bytes",
		"fetches brought %s of at most %s, and one was under way for %s of the window",
		unit.Bytes(int64(*f.BytesPerRequest)),
		unit.Bytes(int64(bound)), percent(waiting)))
}

func fetches(j *judge) *result.ClientRequests {
	if j.Clients == nil {
		return nil
	}
	return j.Clients.Fetch
}

// responseBound returns how many bytes a fetch response can have; 0 is unknown. It is the smaller
// known one of FetchMaxBytes and FetchMaxPartitionBytes × the mean number of partitions per
// connection.
func (j *judge) responseBound(f *result.ClientRequests) float64 {
	bound := float64(j.FetchMaxBytes)
	if n := j.partitions(); n > 0 && j.FetchMaxPartitionBytes > 0 {
		each := float64(j.FetchMaxPartitionBytes) * max(1, float64(n)/float64(f.Connections))
		if bound == 0 || each < bound {
			bound = each
		}
	}
	return bound
}

// Brokers delay fetches until min_bytes is reached; the delay matters only if consumers are behind.
func fetchWait(j *judge) (finding, bool) {
	f := fetches(j)
	if f == nil || f.MeanMs == nil || j.FetchMinBytes <= 1 || j.FetchMaxWaitNs <= 0 || !j.behind() {
		return unknown()
	}
	longest := float64(j.FetchMaxWaitNs) / 1e6
	return j.timed(found(FetchWait, limit, *f.MeanMs/longest, "lower consume.fetch.min_bytes or max_wait",
		"a fetch took %s on average, and may wait up to %s for %s", millis(*f.MeanMs), millis(longest), unit.Bytes(j.FetchMinBytes)))
}

// commits uses the consumers' times: the brokers' times are whole milliseconds, without the
// network.
func commits(j *judge) (finding, bool) {
	c := j.Consumer
	if !j.CommitsEachBatch || c.Members == 0 || c.CommitMeanMs == nil {
		return unknown()
	}
	share := float64(c.Commits) * *c.CommitMeanMs / 1e3 / (j.window * float64(j.committers()))
	return j.timed(found(Commits, limit, share, "commit by time instead (consume.commit: 1s)",
		"%s commits of %s each are %s of the consumers' time", unit.Count(c.Commits), millis(*c.CommitMeanMs), percent(min(1, share))))
}

// committers are members, or workers if a member has several.
func (j *judge) committers() int {
	if j.Consumer.Utilisation == nil { // a member without simulated work delivers its records itself
		return j.Consumer.Members
	}
	return max(j.Consumer.Members, j.Consumer.Workers)
}

// inFlight judges the mean of the produce requests in flight, by Little's law.
func inFlight(j *judge) (finding, bool) {
	share, known := j.inFlight()
	if !known {
		return unknown()
	}
	p := j.Clients.Produce
	took := ""
	if p.MeanMs != nil {
		took = fmt.Sprintf("; one took %s%s", millis(*p.MeanMs), j.spent())
	}
	return j.timed(found(InFlight, limit, share,
		"raise load.in_flight, or have each request carry more (load.batch, load.linger)",
		"%.3g produce requests were under way on average, of %d on each of %d connections%s", p.InFlightMean, j.InFlight, p.Connections, took))
}

func (j *judge) inFlight() (share float64, known bool) {
	if j.Clients == nil || j.Clients.Produce == nil || j.InFlight <= 0 || j.Clients.Produce.Connections == 0 {
		return 0, false
	}
	p := j.Clients.Produce
	return p.InFlightMean / float64(p.Connections*j.InFlight), true
}

// spent describes the phase that took the most time at the brokers.
func (j *judge) spent() string {
	phases := []struct {
		what string
		of   func(result.RequestUse) *float64
	}{
		{"waiting for a handler", func(q result.RequestUse) *float64 { return q.QueueMs }},
		{"in the handler", func(q result.RequestUse) *float64 { return q.LocalMs }},
		{"waiting for the other replicas", func(q result.RequestUse) *float64 { return q.RemoteMs }},
		{"waiting for a network thread", func(q result.RequestUse) *float64 { return q.ResponseQueueMs }},
		{"being answered", func(q result.RequestUse) *float64 { return q.ResponseSendMs }},
	}
	var most, n float64
	what := ""
	for _, phase := range phases {
		var sum, count float64
		for _, b := range byID(j.Broker) {
			for _, q := range requests(b) {
				if ms := phase.of(q); q.Type == "Produce" && ms != nil {
					sum, count = sum+float64(q.Count)**ms, count+float64(q.Count)
				}
			}
		}
		if sum > most {
			most, n, what = sum, count, phase.what
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of it at the broker %s", millis(most/n), what)
}

func batchSize(j *judge) (finding, bool) {
	busy, known := j.inFlight()
	fill, told := j.batchFill()
	if !known || !told {
		return unknown()
	}
	return j.timed(found(BatchSize, limit, fill*min(1, busy), "raise load.batch",
		"batches were %s full of %s, and %s of the requests that may be under way were", percent(min(1,
			fill)), unit.Bytes(j.BatchBytes), percent(min(1, busy))))
}

func (j *judge) batchFill() (fill float64, known bool) {
	if j.Clients == nil || j.Clients.Produce == nil || j.Clients.Produce.BytesPerBatch == nil || j.BatchBytes <= 0 {
		return 0, false
	}
	return min(1, *j.Clients.Produce.BytesPerBatch/float64(j.BatchBytes)), true
}

func (j *judge) sendServiceTime() (t result.Time, measured bool) {
	t, measured = j.Time["send_service_time"]
	return t, measured && j.Says("time.send_service_time")
}

// Full batches do not wait for the linger.
func linger(j *judge) (finding, bool) {
	service, measured := j.sendServiceTime()
	fill, known := j.batchFill()
	if j.LingerNs <= 0 || !measured || service.MeanNs <= 0 || !known {
		return unknown()
	}
	share := min(1, float64(j.LingerNs)/service.MeanNs) * (1 - fill)
	return j.timed(found(Linger, limit, share, "lower load.linger, or have more records under way (load.max_buffered)",
		"a record may wait %s for others (an acknowledgement took %s on average), and batches were %s full",
		unit.Nanos(j.LingerNs), unit.Nanos(int64(service.MeanNs)), percent(fill)))
}

func buffered(j *judge) (finding, bool) {
	service, measured := j.sendServiceTime()
	if !j.Load.ClosedLoop || j.MaxBuffered <= 0 || !measured {
		return unknown()
	}
	n := j.Load.AckedPerS * service.MeanNs / 1e9
	return found(RecordsBuffer, buffer, n/float64(j.MaxBuffered),
		"have more records under way (load.max_buffered), or more clients",
		"%s records were under way on average, of %s in all clients", unit.Count(int64(n)), unit.Count(j.MaxBuffered))
}

func millis(ms float64) string { return unit.Nanos(int64(ms * 1e6)) }
