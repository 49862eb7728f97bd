package figure

import "kafkabench.example/kafka-bench/internal/result"

func requests() []Figure {
	produce := func(r *result.Run) *result.ClientRequests { return clients(r).Produce }
	fetch := func(r *result.Run) *result.ClientRequests { return clients(r).Fetch }
	meanTime := func(c result.ClientRequests) *float64 { return millis(c.MeanMs) }
	inFlight := func(c result.ClientRequests) *float64 { return &c.InFlightMean }
	return []Figure{
		{Name: "produce_request_time_mean", Title: "produce request, mean", Kind: Nanoseconds, Better: Lower,
			value: ofPart(produce, meanTime)},
		{Name: "produce_in_flight_mean", Title: "produce requests in flight, mean", Kind: Number,
			value: ofPart(produce, inFlight)},
		{Name: "fetch_request_time_mean", Title: "fetch, mean", Kind: Nanoseconds, Better: Lower,
			value: ofPart(fetch, meanTime)},
		{Name: "broker_produce_time_mean", Title: "produce request at the brokers, mean", Kind: Nanoseconds,
			Better: Lower, value: atBrokers("Produce")},
		{Name: "broker_fetch_time_mean", Title: "fetch of consumers at the brokers, mean", Kind: Nanoseconds,
			Better: Lower, value: atBrokers("FetchConsumer")},
		{Name: "broker_network_idle_ratio", Title: "network threads idle, the busiest broker", Kind: Ratio,
			Better: Higher, value: networkIdle},
	}
}

func clients(r *result.Run) result.Clients {
	if r.Clients == nil {
		return result.Clients{}
	}
	return *r.Clients
}

func millis(ms *float64) *float64 {
	if ms == nil {
		return nil
	}
	ns := *ms * 1e6
	return &ns
}

func atBrokers(kind string) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		var n, sum float64
		for _, b := range r.Broker {
			if b.Metrics == nil {
				continue
			}
			for _, q := range b.Metrics.Requests {
				if q.Type == kind && q.TotalMs != nil {
					n, sum = n+float64(q.Count), sum+float64(q.Count)**q.TotalMs
				}
			}
		}
		if n == 0 {
			return 0, notMeasured
		}
		return sum / n * 1e6, ""
	}
}

func networkIdle(r *result.Run) (least float64, missing string) {
	missing = notMeasured
	for _, b := range r.Broker {
		if b.Metrics == nil || b.Metrics.NetworkIdleRatio == nil {
			continue
		}
		if idle := *b.Metrics.NetworkIdleRatio; missing != "" || idle < least {
			least, missing = idle, ""
		}
	}
	return least, missing
}
