package bench

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// framingBytes bounds a record's bytes in the log besides key and value: its framing, and its share
// of the batch's framing and of the index.
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
	return keepsFill(r.cfg.Scenario, r.cfg.Cluster.Info().Settings)
}

func (r *run) boundToDisk() error {
	s := r.cfg.Scenario
	stored := s.Load.Bytes() + s.FillBytes()
	if stored == 0 {
		return nil
	}
	local, is := r.cfg.Cluster.(cluster.Local)
	if !is || len(local.Processes()) == 0 {
		if r.cfg.Cluster.Info().Kind == cluster.KindExisting {
			r.warnings = append(r.warnings,
				fmt.Sprintf("what disk the brokers have free is not known: storing %s with %s was not held against it",
					unit.Bytes(int64(stored)), replicas(s)))
		}
		return nil
	}
	free, err := leastFree(local)
	if err != nil {
		return err
	}
	bounded := withinDisk(s, free)
	fits := bounded.Load.Bytes() + bounded.FillBytes()
	if fits == stored {
		return nil
	}
	if fits < leastStored {
		return fmt.Errorf("the disk of the brokers has %s free, of which a run takes half: too little to store anything; free some", unit.Bytes(free))
	}
	r.cfg.Scenario = bounded
	text := fmt.Sprintf("%s are stored and not %s: with %s that would take more than half of the %s that the disk has free",
		unit.Bytes(int64(fits)), unit.Bytes(int64(stored)), replicas(s), unit.Bytes(free))
	r.warnings = append(r.warnings, text)
	r.journal.Event(result.Event{AtNs: r.axis.Now(), Kind: "warning", What: text})
	return nil
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

func leastFree(local cluster.Local) (least int64, err error) {
	first := true
	for _, p := range local.Processes() {
		for _, dir := range p.DataDirs {
			free, err := cluster.FreeDisk(dir)
			if err != nil {
				return 0, err
			}
			if first || free < least {
				least, first = free, false
			}
		}
	}
	return least, nil
}

// withinDisk reduces fill and volume by one factor, to at most half of the free bytes without
// compression. It rounds down to two digits: free space varies, but repeats must store the same.
func withinDisk(s scenario.Scenario, free int64) scenario.Scenario {
	mean := max(1, s.Load.Record.Size.Mean())
	each := (mean + framingBytes) / mean * float64(max(1, s.Topic.Replication))
	part := float64(free) / 2 / ((s.Load.Bytes() + s.FillBytes()) * each)
	if part < 1 {
		s.Load.Volume = unit.Size(twoDigits(float64(s.Load.Volume) * part))
		s.Load.Records, s.Load.RecordsEach = partOf(s.Load.Count(), part), 0
		s.Topic.FillRecords, s.Topic.FillRecordsEach = partOf(s.FillCount(), part), 0
		s.Topic.Fill = unit.Size(twoDigits(float64(s.Topic.Fill) * part))
	}
	return s
}

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

// keepsFill refuses a fill that retention would delete before it is read: the books would count it
// as lost.
func keepsFill(s scenario.Scenario, settings map[string]string) error {
	setting := s.Topic.Config["retention.bytes"]
	if setting == "" {
		setting = settings["log.retention.bytes"]
	}
	keeps, err := strconv.ParseInt(setting, 10, 64)
	if err != nil || keeps < 0 { // unset, or unlimited
		return nil //nolint:nilerr // what a broker does not tell, it does not do
	}
	mean := max(1, s.Load.Record.Size.Mean())
	each := s.FillBytes() * (mean + framingBytes) / mean / float64(s.Topic.Partitions)
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
