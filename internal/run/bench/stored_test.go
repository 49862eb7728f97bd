package bench

import (
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func TestWithinDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scenario.Defaults()
		s.Load.Rate = unit.MaxRate
		size := rapid.IntRange(1, 1_000_000).Draw(t, "record size")
		s.Load.Record.Size = scenario.Size{Distribution: "fixed", Values: []unit.Size{unit.Size(size)}}
		s.Topic.Replication = rapid.IntRange(1, 5).Draw(t, "replication")
		s.Load.Volume = unit.Size(rapid.Int64Range(0, 1e13).Draw(t, "volume"))
		s.Topic.Fill = unit.Size(rapid.Int64Range(1, 1e13).Draw(t, "fill"))
		free := rapid.Int64Range(1e9, 1e14).Draw(t, "free")

		got := withinDisk(s, free)
		takes := func(s scenario.Scenario) float64 {
			return float64(s.Load.Volume+s.Topic.Fill) / float64(size) * float64(size+framingBytes) * float64(s.Topic.Replication)
		}
		half := float64(free) / 2
		switch {
		case takes(got) > half*1.000001:
			t.Fatalf("%d and %d bytes take %.0f of %d free", got.Load.Volume, got.Topic.Fill, takes(got), free)
		case takes(s) <= half && (got.Load.Volume != s.Load.Volume || got.Topic.Fill != s.Topic.Fill):
			t.Fatalf("%d and %d bytes would have fitted, and are %d and %d", s.Load.Volume, s.Topic.Fill, got.Load.Volume, got.Topic.Fill)
		case takes(s) > half && takes(got) < half*0.90-10*float64((size+framingBytes)*s.Topic.Replication):
			t.Fatalf("%d and %d bytes take %.0f, and half of %d would be free", got.Load.Volume, got.Topic.Fill, takes(got), free)
		}
	})
}

// 0 would mean no bound.
func TestRecordsWithinDisk(t *testing.T) {
	s := scenario.Defaults()
	s.Load.Record.Size, s.Load.Producers, s.Load.Rate = scenario.FixedSize(80), 5, unit.MaxRate
	s.Load.RecordsEach, s.Topic.FillRecordsEach, s.Topic.FillProducers = 4, 5_000_000, 2
	if got := withinDisk(s, 2_000_004_000); got.Load.Count() != 20 || got.FillCount() != 10_000_000 {
		t.Errorf("%d and %d records would have fitted, and are %d and %d", s.Load.Count(), s.FillCount(), got.Load.Count(), got.FillCount())
	}
	got := withinDisk(s, 20_000_000)
	if got.Load.Count() != 1 || got.FillCount() != 99_000 || got.Topic.FillRecordsEach+got.Load.RecordsEach != 0 {
		t.Errorf("half of the disk holds 100,000 records, or 99,000 in two digits; stored are %d and %d", got.Load.Count(), got.FillCount())
	}
}

func TestCheckFill(t *testing.T) {
	const kept = "67108864"
	for name, c := range map[string]struct {
		fill       unit.Size
		partitions int
		topic      string
		brokers    string
		refused    bool
	}{
		"none":                           {0, 1, "", kept, false},
		"it fits":                        {50 * unit.MB, 1, "", kept, false},
		"with the framing it does not":   {60 * unit.MB, 1, "", kept, true},
		"more partitions":                {60 * unit.MB, 2, "", kept, false},
		"the topic keeps everything":     {500 * unit.MB, 1, "-1", kept, false},
		"the topic keeps less":           {5 * unit.MB, 1, "1000000", kept, true},
		"the brokers keep everything":    {500 * unit.MB, 1, "", "-1", false},
		"nobody knows what brokers keep": {500 * unit.MB, 1, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario.Defaults()
			s.Load.Record.Size = scenario.FixedSize(100)
			s.Topic.Fill, s.Topic.Partitions = c.fill, c.partitions
			s.Topic.Config = map[string]string{}
			if c.topic != "" {
				s.Topic.Config["retention.bytes"] = c.topic
			}
			err := CheckFill(s, map[string]string{"log.retention.bytes": c.brokers})
			if (err != nil) != c.refused {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestBoundsAreInTheResult(t *testing.T) {
	asked := scenario.Defaults()
	asked.Load.Rate = unit.MaxRate
	asked.Load.Volume, asked.Topic.Fill = 20*unit.GB, 2*unit.GB
	bounded := withinDisk(asked, 5e9)
	r := &base{cfg: Config{Scenario: bounded}, asked: asked}
	if got := r.volumeBound(); got != int64(bounded.Load.Volume) || got == 0 {
		t.Errorf("a volume of %s is told as %d", bounded.Load.Volume, got)
	}
	if got := r.fillBound(); got != int64(bounded.Topic.Fill) || got == 0 {
		t.Errorf("a fill of %s is told as %d", bounded.Topic.Fill, got)
	}
	r.cfg.Scenario = asked
	if volume, fill := r.volumeBound(), r.fillBound(); volume != 0 || fill != 0 {
		t.Errorf("what was not bounded is told as %d and %d", volume, fill)
	}
}
