package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/guard"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// framingBytes bounds a record's bytes in the log besides key, value and header: its framing, and its share of the
// batch's framing and of the index.
const framingBytes = 20

// leastStored is the least size of a reduced run, in bytes.
const leastStored = 10_000_000

// boundStored lets all replicas of a local cluster take at most half of the free disk, and warns.
// The recorded scenario keeps the requested sizes, so that the run counts as a repeat of the same
// scenario.
func (r *run) boundStored(context.Context) error {
	if err := r.boundToDisk(); err != nil {
		return err
	}
	return CheckFill(r.cfg.Scenario, r.cfg.Cluster.Info().Settings)
}

func (r *run) boundToDisk() error {
	s := r.cfg.Scenario
	local, is := r.cfg.Cluster.(cluster.Local)
	if !is {
		return nil // see openGuard
	}
	free, known, err := cluster.LeastFree(local)
	if err != nil || !known {
		return err
	}
	bounded, change, err := BoundToDisk(s, free, r.cfg.Guards)
	if err != nil || change == "" {
		return err
	}
	r.cfg.Scenario = bounded
	r.warn(change)
	return nil
}

func (r *run) warn(text string) {
	r.warnings = append(r.warnings, text)
	r.journal.Event(result.Event{AtNs: r.axis.Now(), Kind: "warning", What: text})
}

// BoundToDisk returns s with amounts that take at most half of what the disk of the brokers of this
// machine has free, in bytes, and says what it changed; "" if nothing. An error is what cannot be
// stored there.
func BoundToDisk(s scenario.Scenario, free int64, g Guards) (bounded scenario.Scenario, change string, err error) {
	stored := loadBytes(s) + s.FillBytes()
	bounded = withinDisk(s, free)
	fits := loadBytes(bounded) + bounded.FillBytes()
	switch {
	case fits < stored && fits < leastStored:
		return s, "", fmt.Errorf("the disk of the brokers has %s free, of which a run takes half: too little to store anything; free some",
			unit.Bytes(free))
	case fits < stored:
		change = fmt.Sprintf("%s are stored and not %s: with %s that would take more than half of the %s that the disk has free",
			unit.Bytes(saturated(fits)), unit.Bytes(saturated(stored)), replicas(s), unit.Bytes(free))
	}
	keep := guard.FloorHere(free)
	if g.MinFreeBytes != nil {
		keep = *g.MinFreeBytes
	}
	all, _ := Stored(bounded)
	if all <= float64(free-keep) || !keepsAll(s) {
		return bounded, change, nil
	}
	over := fmt.Sprintf("load: the records of its schedule are %s with %s, and the disk of the brokers has %s free, of which %s must stay free (--min-free)",
		unit.Bytes(saturated(all)), replicas(s), unit.Bytes(free), unit.Bytes(keep))
	if compresses(s, all, float64(free-keep)) {
		return bounded, over + ": unless they compress well, the run ends early", nil
	}
	return s, "", errors.New(over + "; lower load.rate or phases.measure, or give load.volume")
}

// Stored returns how many bytes a run of s stores at most on the disks of the brokers: its fill and
// its load, with all replicas, uncompressed. bounded is false if a closed loop may store more.
func Stored(s scenario.Scenario) (bytes float64, bounded bool) {
	e := s.Expected()
	return float64(e.Bytes) * onDisk(s), e.Known
}

func saturated(bytes float64) int64 {
	if bytes >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(bytes)
}

// compresses reports whether bytes of records may fit into so many free bytes when they are
// compressed.
func compresses(s scenario.Scenario, bytes, free float64) bool {
	return s.Load.Compression != "none" && free > 0 &&
		(bytes <= mostCompressed*free || s.Load.Record.Payload.Class == "zeros")
}

// mostCompressed is a compression ratio that no codec reaches, except on zeros.
const mostCompressed = 100

// keepsAll reports whether no setting of s makes brokers delete records.
func keepsAll(s scenario.Scenario) bool {
	for _, settings := range []map[string]string{s.Topic.Config, s.Cluster.Config} {
		for key := range settings {
			if strings.Contains(key, "retention") || strings.Contains(key, "cleanup.policy") {
				return false
			}
		}
	}
	return true
}

// loadBytes returns how many bytes of values the load stores at most, by its amount and its
// schedule; 0 without an amount.
func loadBytes(s scenario.Scenario) float64 {
	amount := s.Load.Bytes()
	if e := s.Expected(); e.Known && amount > 0 {
		return min(amount, max(0, float64(e.Bytes)-s.FillBytes()))
	}
	return amount
}

// volumeBound returns 0 if the disk has space for the volume; fillBound likewise.
func (b *base) volumeBound() int64 {
	return ifBounded(b.cfg.Scenario.Load.Volume, b.asked.Load.Volume)
}

func (b *base) fillBound() int64 {
	return ifBounded(b.cfg.Scenario.Topic.Fill, b.asked.Topic.Fill)
}

func ifBounded[amount int64 | unit.Size](stored, asked amount) int64 {
	if stored == asked {
		return 0
	}
	return int64(stored)
}

// withinDisk reduces fill and volume by one factor, to at most half of the free bytes without
// compression. It rounds down to two digits: free space varies, but repeats must store the same.
func withinDisk(s scenario.Scenario, free int64) scenario.Scenario {
	load := loadBytes(s)
	part := float64(free) / 2 / ((load + s.FillBytes()) * onDisk(s))
	if part < 1 {
		scheduled := part * load / max(1, s.Load.Bytes())
		s.Load.Volume = unit.Size(twoDigits(float64(s.Load.Volume) * scheduled))
		s.Load.Records, s.Load.RecordsEach = partOf(s.Load.Count(), scheduled), 0
		s.Topic.FillRecords, s.Topic.FillRecordsEach = partOf(s.FillCount(), part), 0
		s.Topic.Fill = unit.Size(twoDigits(float64(s.Topic.Fill) * part))
	}
	return s
}

// onDisk returns the bytes on the brokers' disks for each byte of values.
func onDisk(s scenario.Scenario) float64 {
	mean := max(1, s.Load.Record.Size.Mean())
	return (mean + framing(s)) / mean * float64(max(1, s.Topic.Replication))
}

func framing(s scenario.Scenario) float64 { return framingBytes + float64(s.Load.Record.HeaderBytes()) }

// partOf is at least 1, because 0 means no bound.
func partOf(records int64, part float64) int64 {
	return max(min(records, 1), int64(twoDigits(float64(records)*part)))
}

// twoDigits rounds down: 39.8 GB to 39.
func twoDigits(n float64) float64 {
	if n < 100 {
		return n
	}
	step := math.Pow10(int(math.Log10(n)) - 1)
	return math.Floor(n/step) * step
}

// CheckFill refuses a fill that retention would delete before it is read: the books would count it
// as lost. settings are those of the brokers, as far as known.
func CheckFill(s scenario.Scenario, settings map[string]string) error {
	setting := s.Topic.Config["retention.bytes"]
	if setting == "" {
		setting = settings["log.retention.bytes"]
	}
	keeps, err := strconv.ParseInt(setting, 10, 64)
	if err != nil || keeps < 0 { // unset, or unlimited
		return nil //nolint:nilerr // what a broker does not tell, it does not do
	}
	mean := max(1, s.Load.Record.Size.Mean())
	each := s.FillBytes() * (mean + framing(s)) / mean / float64(s.Topic.Partitions)
	if each <= float64(keeps) {
		return nil
	}
	return fmt.Errorf("%s: the brokers keep %s of each partition, and a fill of %s is %s in each of %d; give less, more topic.partitions, or brokers that keep more (--cluster kafka)",
		s.FillKey(), unit.Bytes(keeps), unit.Bytes(int64(s.FillBytes())), unit.Bytes(int64(each)), s.Topic.Partitions)
}

func replicas(s scenario.Scenario) string {
	if s.Topic.Replication <= 1 {
		return "1 replica"
	}
	return fmt.Sprintf("%d replicas", s.Topic.Replication)
}
