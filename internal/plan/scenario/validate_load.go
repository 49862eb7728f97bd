package scenario

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// 1 PiB takes a month at 400 MB/s.
const maxVolume = 1 << 20 * unit.GiB

const (
	minDelivery        = unit.Duration(time.Second)
	idempotentInFlight = 5 // Kafka's maximum; franz-go accepts no other number
)

func (c *checker) load(s Scenario) {
	l := s.Load
	steps := l.Arrival.Steps
	switch {
	case l.Rate.IsMax():
		c.closedLoop(s)
	case len(steps) > 0 && l.Rate == steps[0].Rate: // checked by steps
	default:
		c.rate("load.rate", l.Rate)
	}
	if c.between("load.producers", int64(l.Producers), 0, maxWorkers) && l.Producers == 0 {
		c.readOnly(s)
	}
	c.processes(l)
	c.amount("load.volume", l.Volume, "load.records", l.Records, l.RecordsEach, l.Producers, "load.producers")
	c.round(l)
	if l.MaxRate.Records != 0 {
		c.rate("load.max_rate", l.MaxRate)
	}
	c.between("load.clients", int64(l.Clients), 0, maxWorkers)
	c.choice("load.pacer", l.Pacer, pacers)
	c.choice("load.partitioning", l.Partitioning, partitionings)
	if l.Partitioning == "key" && l.Record.Keys.Distribution == "none" {
		c.mistake("load.partitioning", "the records have no keys to go by",
			"set load.record.keys, or choose sticky or round-robin", "load.record.keys")
	}
}

func (c *checker) processes(l Load) {
	const path = "load.processes"
	switch {
	case !c.between(path, int64(l.Processes), 1, maxProcesses) || l.Processes == 1:
	case l.Producers < l.Processes:
		c.mistake(path, fmt.Sprintf("there are fewer producers than these %d processes: %d", l.Processes, l.Producers),
			"give each process at least one producer, or fewer processes", "load.producers")
	case l.Clients > 0 && l.Clients < l.Processes:
		c.mistake(path, fmt.Sprintf("processes cannot share a client, and there are fewer than these %d: %d",
			l.Processes, l.Clients),
			"leave load.clients out, or give each process at least one", "load.clients")
	}
}

func (c *checker) closedLoop(s Scenario) {
	if process := s.Load.Arrival.Process; process != "constant" {
		c.mistake("load.arrival", fmt.Sprintf("rate max has no schedule, so its arrivals cannot be %s", process),
			"leave load.arrival out, or give a rate, as in 20k/s", "load.rate")
	}
	if controller := s.Backpressure.Controller; controller != "off" {
		c.mistake("backpressure", fmt.Sprintf("rate max offers nothing that %s could hold back", controller),
			"give a rate, as in 20k/s, or set backpressure: off", "load.rate")
	}
}

func (c *checker) readOnly(s Scenario) {
	const path = "load.producers"
	if s.Topic.Existing == "" && !s.Filled() {
		c.mistake(path, "without producers a new topic stays empty",
			"name a topic to read in topic.existing, have one filled with topic.fill, or give at least 1",
			"topic.existing", "topic.fill", "topic.fill_records")
	}
	if s.Consume.Consumers == 0 {
		c.mistake(path, "without producers and consumers nothing happens",
			"give consume.consumers, or at least 1 producer", "consume.consumers")
	}
	for _, key := range written(keyed{"load.volume", s.Load.Volume > 0}, keyed{"load.records", s.Load.Records > 0},
		keyed{"load.records_each", s.Load.RecordsEach > 0}) {
		c.mistake(key, "without producers nothing is offered", "leave it out", path)
	}
	if s.Backpressure.Controller != "off" {
		c.mistake("backpressure", "without producers there is nothing to hold back", "set backpressure: off", path)
	}
}

func (c *checker) producer(s Scenario) {
	l := s.Load
	c.choice("load.acks", l.Acks, ackLevels)
	c.choice("load.compression", l.Compression, codecs)
	c.level(l)
	c.between("load.in_flight", int64(l.InFlight), 1, 1000)
	if l.Idempotent {
		c.idempotent(l)
	}
	c.client("load.client", l.Client)
	c.between("load.max_buffered", int64(l.MaxBuffered), 1, maxBuffered)
	lingers := c.duration("load.linger", l.Linger, 0, unit.Duration(time.Minute))
	if c.duration("load.delivery_timeout", l.DeliveryTimeout, minDelivery, maxPhase) && lingers &&
		l.DeliveryTimeout <= l.Linger {
		c.mistake("load.delivery_timeout",
			fmt.Sprintf("%s ends before a linger of %s does", l.DeliveryTimeout, l.Linger),
			"give more than load.linger", "load.linger")
	}
}

// Scenarios are printed, so credentials and addresses are refused. The driver checks other
// settings.
func (c *checker) client(path string, settings map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if native.Access(name) {
			c.mistake(join(path, name), native.AccessProblem, native.AccessRemedy)
		}
	}
}

func (c *checker) level(l Load) {
	highest, known := codecLevels[l.Compression]
	switch {
	case !known || l.Level == 0:
	case highest == 0:
		c.mistake("load.level", fmt.Sprintf("compression %s has no levels", l.Compression), "leave it out",
			"load.compression")
	case l.Level < 1 || l.Level > highest:
		c.mistake("load.level", fmt.Sprintf("%d is not a level of %s", l.Level, l.Compression),
			fmt.Sprintf("give 1 to %d, or 0 for the codec's default", highest), "load.compression")
	}
}

func (c *checker) idempotent(l Load) {
	if l.Acks != "all" {
		c.mistake("load.idempotent", fmt.Sprintf("it needs acks all, and load.acks is %s", l.Acks),
			"set load.acks to all, or idempotent to false", "load.acks")
	}
	if l.InFlight != idempotentInFlight {
		c.mistake("load.in_flight", fmt.Sprintf("an idempotent producer has %d requests in flight, and not %d",
			idempotentInFlight, l.InFlight),
			"leave it out, or set load.idempotent to false", "load.idempotent")
	}
}

func (c *checker) record(s Scenario) {
	r := s.Load.Record
	c.payload(r)
	c.choice(stampKey, r.Stamp, stamps)
	c.keys(r.Keys)
	sized := c.recordSize(r.Size)
	batched := c.batch(s.Load.Batch)
	if sized && batched {
		c.fits(s)
	}
}

func (c *checker) batch(b Batch) bool {
	return b == OneRecord || c.size("load.batch", unit.Size(b), 1, maxBytes)
}

// BatchBytes returns the upper bound of a batch in bytes. With OneRecord it is the default, or more
// if the largest record needs it.
func (s Scenario) BatchBytes() unit.Size {
	if s.Load.Batch != OneRecord {
		return unit.Size(s.Load.Batch)
	}
	return max(unit.Size(Defaults().Load.Batch), s.largestBatch())
}

// OneRecordBound returns the smallest bound of a batch in bytes that each record fits, but at least
// the parameter least. alone reports whether no two records fit it.
func (s Scenario) OneRecordBound(least unit.Size) (bound unit.Size, alone bool) {
	smallest, _ := s.Load.Record.Size.Bounds()
	smallest += s.Load.Record.HeaderBytes()
	bound = max(least, s.largestBatch())
	return bound, batchOverhead+2*(smallest+leastOverhead) > bound
}

func (s Scenario) largestBatch() unit.Size {
	_, largest := s.Load.Record.Size.Bounds()
	need := largest + recordOverhead + batchOverhead + s.Load.Record.HeaderBytes()
	if s.Load.Record.Keys.Distribution != "none" {
		need += keyAllowance
	}
	return need
}

func (c *checker) keys(k Keys) {
	const path = "load.record.keys"
	c.choice(path+".distribution", k.Distribution, keyings)
	if k.counted() {
		c.between(path+".count", int64(k.Count), 1, maxBuffered)
	} else if k.Count != 0 {
		c.mistake(path+".count", fmt.Sprintf("keys: %s has no number of keys", k.Distribution),
			"leave it out, or choose sequential, uniform or zipf", path+".distribution")
	}
	switch {
	case k.Distribution != "zipf" && k.Skew != 0:
		c.mistake(path+".skew", fmt.Sprintf("keys: %s has no skew", k.Distribution), "leave it out, or choose zipf",
			path+".distribution")
	case k.Distribution == "zipf" && !(k.Skew > 1 && k.Skew <= 100):
		c.mistake(path+".skew", fmt.Sprintf("%v is not an exponent of a Zipf distribution here", k.Skew),
			"give more than 1, as in 1.1")
	}
}

func (c *checker) recordSize(size Size) bool {
	const path = "load.record.size"
	v := size.Values
	before := len(c.findings)
	if size.Distribution != fileSizes {
		c.choice(path, size.Distribution, sizings)
	}
	switch size.Distribution {
	case "fixed":
		if len(v) != 1 {
			c.mistake(path, fmt.Sprintf("it has %d values", len(v)), "give one size, as in 512B")
		}
	case "uniform":
		if len(v) != 2 || v[0] > v[1] {
			c.mistake(path, "uniform takes the smallest and the largest size", "write it as {uniform: [64B, 1KiB]}")
		}
	case "normal":
		if len(v) != 2 {
			c.mistake(path, "normal takes a mean and a standard deviation", "write it as {normal: [1KiB, 200B]}")
		}
	case fileSizes:
		if len(v) != 3 || !slices.IsSorted(v) {
			c.mistake(path, "these are not the sizes of a file", "leave them out: the tool reads them")
		}
	case "list":
		if len(v) < 1 || len(v) > maxLevels {
			c.mistake(path, fmt.Sprintf("the list has %d sizes", len(v)), fmt.Sprintf("give 1 to %d", maxLevels))
		}
	}
	if len(v) > 0 && slices.Min(v) < 1 {
		c.mistake(path, "a size must be above 0", "give at least 1B")
	} else if _, largest := size.Bounds(); largest > maxRecord {
		c.mistake(path, fmt.Sprintf("a record may have %s", largest), fmt.Sprintf("give at most %s", maxRecord))
	}
	return len(c.findings) == before
}

func (c *checker) fits(s Scenario) {
	_, largest := s.Load.Record.Size.Bounds()
	need := s.largestBatch()
	limit, setting := s.batchLimit()
	switch {
	case limit > 0 && need > limit:
		c.mistake("load.record.size",
			fmt.Sprintf("a record of %s needs a batch of %s, and the broker takes %s", largest, need, limit),
			fmt.Sprintf("make it smaller, or raise %s",
				setting), setting, "topic.config", "cluster.config", "topic.existing")
	case need > s.BatchBytes():
		c.mistake("load.record.size",
			fmt.Sprintf("a record of %s needs a batch of %s, and load.batch is %s", largest, need, s.Load.Batch),
			"make it smaller, or raise load.batch", "load.batch")
	case limit > 0 && unit.Size(s.Load.Batch) > limit:
		c.mistake("load.batch", fmt.Sprintf("a batch of %s is more than the broker takes, %s", s.Load.Batch, limit),
			fmt.Sprintf("make it smaller, or raise %s",
				setting), setting, "topic.config", "cluster.config", "topic.existing")
	}
}
