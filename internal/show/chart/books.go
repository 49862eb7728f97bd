package chart

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

type outcome struct {
	name, figure string
	count        int64
	always       bool // draw it even if it is 0
}

// outcomes are in the order of a record's life. With several groups, deliveries count all copies.
func outcomes(r *result.Run) []outcome {
	all := []outcome{
		{"scheduled", "load.scheduled", r.Load.Scheduled, true},
		{"shed", "load.shed", r.Load.Shed, false},
		{"deferred", "load.deferred", r.Load.Deferred, false},
		{"failed", "load.failed", r.Load.Failed, false},
		{"unknown", "load.unknown", r.Load.Unknown, false},
		{"acked", "load.acked", r.Load.Acked, true},
	}
	if r.Consumer.Members > 0 {
		all = append(all,
			outcome{"delivered", "delivery.unique", r.Delivery.Unique, true},
			outcome{"duplicates", "delivery.duplicates", r.Delivery.Duplicates, false},
			outcome{"pending", "delivery.pending", r.Delivery.Pending, false},
			outcome{"lost", "delivery.lost", r.Delivery.Lost, false},
			outcome{"corrupt", "delivery.corrupt", r.Delivery.Corrupt, false})
	}
	if q := r.Queue; q != nil {
		all = append(all,
			outcome{"acknowledged by the application", "queue.unique_acked", q.UniqueAcked, true},
			outcome{"dead letters", "queue.dead_lettered", q.DeadLettered, false},
			outcome{"pending in the queue", "queue.pending", q.Pending, false},
			outcome{"lost by the queue", "queue.lost", q.Lost, false})
	}
	return slices.DeleteFunc(all, func(o outcome) bool { return o.count == 0 && !o.always || !r.Says(o.figure) })
}

func books(in Input) (draw.Spec, error) {
	s, err := in.selected()
	if err != nil {
		return draw.Spec{}, err
	}
	all, notes, err := gather(s.runs, func(r named) (draw.Panel, error) {
		p, err := booksOf(r)
		if !s.alone() {
			p.Y.Label = r.name
		}
		return p, err
	})
	of := ""
	if slices.ContainsFunc(s.runs, func(r named) bool { return r.Run.PartMissing() }) {
		of = ", of the parts that were handed in"
	}
	return draw.Spec{
		Title: s.title("What became of the scheduled records") + of, Panels: all,
		X:     draw.Free("records", draw.Linear, count),
		Alt:   fmt.Sprintf("How many records of %s were scheduled, and how many of them ended in which way.", s.said()),
		Notes: append(s.notes, notes...),
	}, err
}

func booksOf(r named) (draw.Panel, error) {
	if !r.Run.Finished() {
		return draw.Panel{}, r.lacks(runFile, "load", "the run did not finish")
	}
	if r.Run.Load.Scheduled == 0 || !r.Run.Says("load.scheduled") {
		return draw.Panel{}, r.lacks(runFile, "load.scheduled", "nothing was scheduled, or the number is not known")
	}
	var names, fields []string
	bars := draw.Series{Name: "records", Kind: draw.Bars}
	for i, o := range outcomes(&r.Run) {
		names, fields = append(names, o.name), append(fields, o.figure)
		bars.X0, bars.X1 = append(bars.X0, 0), append(bars.X1, float64(o.count))
		bars.Y = append(bars.Y, float64(i))
	}
	bars.Figure = strings.Join(fields, " ")
	p := draw.Panel{Y: rows("records", names), Height: rowHeight * float64(len(names)), Series: []draw.Series{bars}}
	return p, nil
}
