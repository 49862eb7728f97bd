package virtual

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestTimeIsVirtual(t *testing.T) {
	Test(t, Options{Brokers: 3, ProduceDelay: 10 * time.Minute}, func(t *testing.T, c *Cluster) {
		client, err := kgo.NewClient(append(c.Client(),
			kgo.ProducerLinger(0), kgo.RequestTimeoutOverhead(15*time.Minute))...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx := context.Background()
		if _, err := kadm.NewClient(client).CreateTopic(ctx, 3, 3, nil, "slow"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: "slow"}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 10*time.Minute {
			t.Errorf("the record was acknowledged after %v, want ten minutes", took)
		}
	})
}
