package analysis

import (
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

func plainAt(d *Study, c *Cell) (at int, ok bool) {
	base := d.PlainOf(c)
	if base == nil || c.Valid == 0 {
		return 0, false
	}
	return slices.IndexFunc(d.Cells, func(other Cell) bool { return other.Name == base.Name }), true
}

var queueFigures = []string{
	"queue_acked_per_s", "queue_deliveries_per_record", "redelivery_response_time_p99", "redelivery_lateness_p99",
	"settle_time_p99",
	"queue_lost", "queue_requests_per_record", "broker_requests_per_record", "broker_bytes_in_per_record", "cpu_cores",
}

// HeadlineOf returns the headline figures of runs, with those of a queue if a run
// has one.
func HeadlineOf(runs []*result.Recorded) []figure.Figure {
	figures := figure.Headline()
	if slices.ContainsFunc(runs, func(r *result.Recorded) bool { return r != nil && r.Run.Queue != nil }) {
		figures = append(figures, FiguresNamed(queueFigures)...)
	}
	return figures
}

// comparedQueues are the figures of compared queues: few enough that five runs of each queue can
// show a difference.
var comparedQueues = []string{
	"queue_acked_per_s", "e2e_response_time_p50", "e2e_response_time_p99", "redelivery_lateness_p99",
	"broker_requests_per_record", "cpu_cores", "queue_lost",
}

// comparedOf returns the default figures of a comparison, and whether some are exploratory.
func comparedOf(runs []*result.Recorded) (figures []figure.Figure, explore bool) {
	if len(runs) == 0 || slices.ContainsFunc(runs, func(r *result.Recorded) bool { return r.Run.Queue == nil }) {
		return figure.Headline(), true
	}
	return FiguresNamed(comparedQueues), false
}

// EngineOf is the engine of a cell's queue; "" if its runs have none.
func (d *Cell) EngineOf() string {
	for _, r := range d.Sample.Taken {
		if r.Run.Queue != nil {
			return r.Run.Queue.Engine
		}
	}
	return ""
}

// EngineSaid is the name of the cell's engine in sentences.
func (d *Cell) EngineSaid() string {
	if d.startsFirst() {
		return d.EngineOf() + " with starts first"
	}
	return d.EngineOf()
}

func (d *Cell) startsFirst() bool { return d.Setting(startFirst) == "true" }

// startFirst is a setting of earlier runs. With it, the markers engine wrote the start marker of a record before it
// delivered the record, as it always does now.
const startFirst = "consume.queue.start_first"

// KindOf returns a cell's label without its engine: "2x5-all" for
// "2x5-all-markers".
func KindOf(label, engine string) string {
	parts := strings.FieldsFunc(label, func(c rune) bool { return c == '-' || c == ',' || c == ' ' })
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == engine }), "-")
}

// PlainEngine is an ordinary consumer group. The cost of another engine is compared with it, in a
// cell that has the same settings except the engine's own.
const PlainEngine = "plain"

// engineKeys are the settings in which a cell may differ from its plain cell: the
// engine's own, and its name and rate.
var engineKeys = []string{
	"name", "description", "load.rate", "consume.session_timeout", "consume.queue.engine", "consume.queue.visibility",
	"consume.queue.max_deliveries",
	"consume.queue.dead_letter", "consume.queue.tracker", "consume.queue.transactions", startFirst,
	"consume.queue.acks",
}

// SameLoad is the greatest relative difference between the rates of two cells whose times are
// compared.
const SameLoad = 0.05

// PlainOf returns the valid plain cell that is comparable with a cell and nearest to its rate; nil
// if there is none, and for plain itself.
func (d *Study) PlainOf(c *Cell) *Cell {
	if engine := c.EngineOf(); engine == "" || engine == PlainEngine {
		return nil
	}
	var best *Cell
	nearest := math.Inf(1)
	for _, other := range d.ValidCells() {
		if other.EngineOf() != PlainEngine || !alikeBut(c, other, engineKeys...) {
			continue
		}
		if apart := RatesApart(c, other); apart <= SameLoad && apart < nearest {
			best, nearest = other, apart
		}
	}
	return best
}

func alikeBut(a, b *Cell, keys ...string) bool {
	if len(a.Sample.Taken) == 0 || len(b.Sample.Taken) == 0 {
		return false
	}
	mine, others := figure.Configuration(&a.Sample.Taken[0].Run), figure.Configuration(&b.Sample.Taken[0].Run)
	alike := func(one, other map[string]string) bool {
		for path, value := range one {
			if !slices.Contains(keys, path) && other[path] != value {
				return false
			}
		}
		return true
	}
	return alike(mine, others) && alike(others, mine)
}

// RatesApart is the difference between two cells' offered rates, relative to the lower.
func RatesApart(a, b *Cell) float64 {
	one, other := a.Setting("load.rate"), b.Setting("load.rate")
	if one == other {
		return 0
	}
	mine, err := unit.ParseRate(one)
	theirs, wrong := unit.ParseRate(other)
	if err != nil || wrong != nil || mine.IsMax() || theirs.IsMax() {
		return math.Inf(1)
	}
	low, high := mine.PerSecond(), theirs.PerSecond()
	if low > high {
		low, high = high, low
	}
	return high/low - 1
}
