package shares_test

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/backpressure/shares"
)

func TestTheLeaseCountsFromSending(t *testing.T) {
	m, err := shares.NewMember(shares.Config{ID: "a", Lease: lease, Margin: margin, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	var log shares.State
	tell := func(sent, read time.Duration) {
		m.Aim(sent)
		log.Fold(m.Beat(sent, shares.Load{}))
		m.See(read, &log)
	}
	tell(time.Second, 2*time.Second)
	if part, _ := m.Grant(); part != 0 || !m.Joined() {
		t.Errorf("part %d, joined %v after the first beat", part, m.Joined())
	}
	tell(3*time.Second, 9*time.Second)
	part, until := m.Grant()
	if want := 3*time.Second + lease - margin; part != shares.Whole || until != want {
		t.Errorf("part %d until %v, want all until %v", part, until, want)
	}
	log.Fold(shares.Record{Kind: shares.Reclaim, Member: "a", Seq: 2})
	m.See(10*time.Second, &log)
	if part, _ := m.Grant(); part != 0 || !m.Expelled() {
		t.Errorf("part %d, expelled %v after it was reclaimed", part, m.Expelled())
	}
}

func TestPromisesAreKeptUntilTheyAreReadBack(t *testing.T) {
	m, err := shares.NewMember(shares.Config{ID: "a", Lease: lease, Margin: margin, Floor: shares.DefaultFloor})
	if err != nil {
		t.Fatal(err)
	}
	var log shares.State
	log.Fold(m.Beat(0, shares.Load{}))
	m.See(0, &log)
	log.Fold(m.Beat(0, shares.Load{}))
	log.Fold(first("b"))
	m.See(0, &log)
	if part := m.Aim(0); part >= shares.Whole {
		t.Fatalf("part %d though another has less than its floor", part)
	}
	promised := m.Beat(0, shares.Load{}).Want
	log.Fold(shares.Record{Kind: shares.Leave, Member: "b", Seq: 2})
	m.See(0, &log)
	for range 200 {
		m.Aim(0)
		m.Beat(0, shares.Load{})
	}
	if part, _ := m.Grant(); part != promised {
		t.Errorf("part %d of the %d that was promised", part, promised)
	}
}

func TestNewMemberSaysWhatIsWrong(t *testing.T) {
	for _, cfg := range []shares.Config{
		{Lease: lease}, {ID: "a"}, {ID: "a", Lease: lease, Margin: lease},
		{ID: "a", Lease: lease, Grace: -1}, {ID: "a", Lease: lease, Floor: shares.Whole + 1},
	} {
		if _, err := shares.NewMember(cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}
