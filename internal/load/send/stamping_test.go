package send

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

type slowToTake struct{ *fakeKafka }

type slowProducer struct{ driver.Producer }

func (d slowToTake) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	p, err := d.fakeKafka.NewProducer(cfg)
	return slowProducer{p}, err
}

func (p slowProducer) Produce(r *driver.Record) {
	p.Producer.Produce(r)
	time.Sleep(time.Millisecond)
}

// A record's send time is that of its own produce call; in a closed loop, that of the first call of
// its handful.
func TestSendTimeIsNeverTooLate(t *testing.T) {
	for _, c := range []struct {
		name     string
		rate     int64 // 0 is a closed loop
		earliest time.Duration
	}{
		{"with a schedule", 3000, 0},
		{"closed loop", 0, (handful - 1) * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			slow := func(b *bench) { b.cfg.Driver, b.cfg.Workers = slowToTake{b.kafka}, 1 }
			inBubble(t, c.rate, slow, func(t *testing.T, b *bench) {
				b.offer(time.Second)
				var most time.Duration
				for i, r := range b.kafka.produced {
					stamp, _ := payload.ReadStamp(r.Value)
					early := time.Duration(b.kafka.at[i] - stamp.Actual)
					if early < 0 || early > c.earliest {
						t.Fatalf("record %d was sent at %d and says %d", i, b.kafka.at[i], stamp.Actual)
					}
					if at := b.axis.Wall(stamp.Actual); !r.Created.Equal(at) {
						t.Fatalf("record %d was made at %v, by its timestamp at %v", i, at, r.Created)
					}
					most = max(most, early)
				}
				if most != c.earliest {
					t.Errorf("the earliest send time is %v before its call, want %v", most, c.earliest)
				}
			})
		})
	}
}
