package figure

import "kafkabench.example/kafka-bench/internal/result"

func books() []Figure {
	return []Figure{
		{
			Name: "offered_per_s", Title: "offered", Kind: PerSecond, fields: []string{"load.offered_per_s"},
			value: when(openLoop, func(r *result.Run) float64 { return r.Load.OfferedPerS }),
		},
		{
			Name: "acked_per_s", Title: "acked", Kind: PerSecond, Better: Higher, fields: []string{"load.acked_per_s"},
			value: when(produced, func(r *result.Run) float64 { return r.Load.AckedPerS }),
		},
		{
			Name: "acked_bytes_per_s", Title: "acked bytes", Kind: BytesPerSecond, Better: Higher,
			fields: []string{"load.acked_per_s", "load.acked", "load.bytes"},
			value: when(produced, func(r *result.Run) float64 {
				return r.Load.AckedPerS * float64(r.Load.Bytes) / float64(r.Load.Acked)
			}),
		},
		{
			Name: "delivered_per_s", Title: "delivered", Kind: PerSecond, Better: Higher,
			fields: []string{"delivery.delivered_per_s"},
			value:  when(consumed, func(r *result.Run) float64 { return r.Delivery.DeliveredPerS }),
		},
		{
			Name: "duplicates_per_s", Title: "delivered again", Kind: PerSecond, Better: Lower,
			value: pointed(func(r *result.Run) *float64 { return r.Delivery.DuplicatesPerS }),
		},
		{
			Name: "delivered_bytes_per_s", Title: "delivered bytes", Kind: BytesPerSecond, Better: Higher,
			fields: []string{"delivery.delivered_per_s"}, value: deliveredBytes,
		},
		ofLoad("scheduled", Neither, "load.scheduled", func(l result.Load) int64 { return l.Scheduled }),
		ofLoad("admitted", Neither, "load.admitted", func(l result.Load) int64 { return l.Admitted }),
		ofLoad("deferred", Lower, "load.deferred", func(l result.Load) int64 { return l.Deferred }),
		ofLoad("shed", Lower, "load.shed", func(l result.Load) int64 { return l.Shed }),
		ofLoad("acked", Neither, "load.acked", func(l result.Load) int64 { return l.Acked }),
		ofLoad("failed", Lower, "load.failed", func(l result.Load) int64 { return l.Failed }),
		ofLoad("unknown", Lower, "load.unknown", func(l result.Load) int64 { return l.Unknown }),
		{
			Name: "acked_ratio", Title: "acked, of scheduled", Kind: Ratio, Better: Higher,
			fields: []string{"load.acked", "load.scheduled"},
			value: when(produced,
				func(r *result.Run) float64 { return float64(r.Load.Acked) / float64(r.Load.Scheduled) }),
		},
		{
			Name: "admitted_ratio", Title: "admitted, of scheduled", Kind: Ratio, Better: Higher,
			fields: []string{"load.admitted", "load.scheduled"},
			value: when(produced,
				func(r *result.Run) float64 { return float64(r.Load.Admitted) / float64(r.Load.Scheduled) }),
		},
		{
			Name: "shed_ratio", Title: "shed, of scheduled", Kind: Ratio, Better: Lower,
			fields: []string{"load.shed", "load.scheduled"},
			value: when(produced,
				func(r *result.Run) float64 { return float64(r.Load.Shed) / float64(r.Load.Scheduled) }),
		},
		{
			Name: "delivery_ratio", Title: "delivered ÷ scheduled", Kind: Ratio, Better: Higher,
			fields: []string{"delivery.ratio"}, value: deliveryRatio,
		},
		{
			Name: "delivered_to_acked_ratio", Title: "delivered ÷ acked, in the window", Kind: Ratio, Better: Higher,
			value: deliveredToAcked,
		},
		{
			Name: "warmup_acked_per_s", Title: "acked, in the warm-up", Kind: PerSecond,
			fields: []string{"warmup.load.acked_per_s"},
			value:  when(warmedUp, func(r *result.Run) float64 { return r.Warmup.Load.AckedPerS }),
		},
		{
			Name: "warmup_delivered_per_s", Title: "delivered, in the warm-up", Kind: PerSecond,
			fields: []string{"warmup.delivery.delivered_per_s"}, value: warmupDelivered,
		},
		ofDelivery("lost", "delivery.lost", func(d result.Delivery) int64 { return d.Lost }),
		ofDelivery("duplicates", "delivery.duplicates", func(d result.Delivery) int64 { return d.Duplicates }),
		ofDelivery("reordered", "delivery.reordered", func(d result.Delivery) int64 { return d.Reordered }),
		ofDelivery("corrupt", "delivery.corrupt", func(d result.Delivery) int64 { return d.Corrupt }),
		ofDelivery("pending", "delivery.pending", func(d result.Delivery) int64 { return d.Pending }),
	}
}

func ofLoad(name string, better Better, field string, count func(result.Load) int64) Figure {
	return Figure{
		Name: name, Title: name + " records", Kind: Records, Better: better, fields: []string{field},
		value: when(produced, func(r *result.Run) float64 { return float64(count(r.Load)) }),
	}
}

// Only stamped records show errors.
func ofDelivery(name, field string, count func(result.Delivery) int64) Figure {
	return Figure{
		Name: name, Title: name, Kind: Records, Better: Lower, fields: []string{field},
		value: when(checked, func(r *result.Run) float64 { return float64(count(r.Delivery)) }),
	}
}

func deliveryRatio(r *result.Run) (float64, string) {
	if missing := checked(r); missing != "" {
		return 0, missing
	}
	if r.Fill != nil && r.Load.Scheduled == 0 { // the ratio is of the fill
		return r.Delivery.Ratio, ""
	}
	return r.Delivery.Ratio, produced(r)
}

func deliveredToAcked(r *result.Run) (float64, string) {
	switch ratio := r.Delivery.DeliveredToAcked; {
	case ratio != nil:
		return *ratio, ""
	case produced(r) != "":
		return 0, produced(r)
	case consumed(r) != "":
		return 0, consumed(r)
	case r.Load.AckedPerS == 0 && r.Says("load.acked_per_s"):
		return 0, "nothing was acked in the window"
	}
	return 0, notRecorded
}

func warmedUp(r *result.Run) string {
	if r.Warmup.Load.OfferedPerS == 0 {
		return "nothing was offered in a warm-up"
	}
	return ""
}

func warmupDelivered(r *result.Run) (float64, string) {
	switch perS := r.Warmup.Delivery.DeliveredPerS; {
	case perS != nil:
		return *perS, ""
	case consumed(r) != "":
		return 0, consumed(r)
	case warmedUp(r) != "":
		return 0, warmedUp(r)
	}
	return 0, notRecorded
}

// The mean size is of the delivered records or, if their bytes are unknown, of the acked records.
func deliveredBytes(r *result.Run) (float64, string) {
	bytes, records := r.Load.Bytes, r.Load.Acked
	if r.Delivery.Bytes > 0 {
		bytes, records = r.Delivery.Bytes, r.Delivery.Delivered
	}
	if bytes == 0 || records == 0 {
		return 0, notMeasured
	}
	return r.Delivery.DeliveredPerS * float64(bytes) / float64(records), consumed(r)
}

// missing returns "" or the reason why there is no figure.
func when(missing func(*result.Run) string, v func(*result.Run) float64) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		if why := missing(r); why != "" {
			return 0, why
		}
		return v(r), ""
	}
}

func produced(r *result.Run) string {
	if r.Says("load.scheduled") && r.Load.Scheduled == 0 {
		return "nothing was produced"
	}
	return ""
}

func openLoop(r *result.Run) string {
	if r.Load.ClosedLoop {
		return "a closed loop has no offered rate"
	}
	return produced(r)
}

func consumed(r *result.Run) string {
	if r.Says("consumer.members") && r.Consumer.Members == 0 {
		return "nothing was consumed"
	}
	return ""
}

func checked(r *result.Run) string {
	if why := consumed(r); why != "" {
		return why
	}
	if !r.Delivery.Checked {
		return "its records carry no stamp"
	}
	return ""
}

func pointed[T int64 | float64](field func(*result.Run) *T) func(*result.Run) (float64, string) {
	return func(r *result.Run) (float64, string) {
		p := field(r)
		if p == nil {
			return 0, notMeasured
		}
		return float64(*p), ""
	}
}
