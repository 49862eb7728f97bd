package member

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A commit that the coordinator does not answer ends by itself, and whoever waits behind it
// waits no longer than it has time for: a revocation would else wait for ever.
func TestACommitThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		r := newRecorder(100)
		cfg := p.config(r, 100)
		cfg.CommitEvery, cfg.SessionTimeout = time.Hour, time.Minute // the group's coordinator may hear nothing of the member meanwhile
		m, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.until("partitions", func() bool { return len(m.Owned()) == 4 })
		p.produce(4)
		p.take(m, 4)

		asked, answer := make(chan struct{}, 10), make(chan struct{})
		stopWaiting := sync.OnceFunc(func() { close(answer) })
		t.Cleanup(stopWaiting)
		p.cluster.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
			p.cluster.KeepControl()
			asked <- struct{}{}
			p.cluster.SleepControl(func() { <-answer })
			return nil, nil, false
		})
		first, second := make(chan error, 1), make(chan error, 1)
		began := time.Now()
		go func() { first <- m.Commit(context.Background()) }()
		p.receive("a request to commit", asked)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			second <- m.commit(ctx, []int32{0})
		}()
		if err := p.outcome("the commit of a revocation", second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the commit of a revocation: %v", err)
		}
		select {
		case err := <-first:
			t.Errorf("the first commit ended first: %v", err)
		default:
		}
		// The client reads no longer than the commit may take, either, but would try again.
		var late interface{ Timeout() bool }
		if err := p.outcome("the first commit", first); !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("the first commit: %v", err)
		}
		if took := time.Since(began); took > 2*commitFor {
			t.Errorf("the first commit took %v", took)
		}
		stopWaiting()
		if err := m.Commit(t.Context()); err != nil {
			t.Errorf("once there are answers: %v", err)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		r.set.Close()
	})
}

// A commit is so many requests that none has more metadata than brokers take; what a broker
// takes is learned from its refusals.
func TestMetadataIsCommittedInParts(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	kafka4, before := kerr.UnknownServerError, kerr.InvalidCommitOffsetSize
	for _, c := range []struct {
		name          string
		each          int                                    // metadata of each of the 4 partitions, in bytes
		refuses       func(size int, first bool) *kerr.Error // first: partition 0 is in the request
		first, second string                                 // KiB of the requests of two commits
		err           error
	}{
		{"nothing is large", 100 * kib, nil, "[400]", "[400]", nil},
		{"all of it is", 200 * kib, nil, "[400 400]", "[400 400]", nil},
		{"one of them is", 600 * kib, nil, "[600 600 600 600]", "[600 600 600 600]", nil},
		{"Kafka 4 takes less", 200 * kib, above(300*kib, kafka4), "[400 200 200 200 200]", "[200 200 200 200]", nil},
		{"an older one takes less", 200 * kib, above(300*kib, before), "[400 200 200 200 200]", "[200 200 200 200]", nil},
		{"it takes much less", 100 * kib, above(150*kib, kafka4), "[400 200 100 100 100 100]", "[100 100 100 100]", nil},
		{"the broker takes nothing", 8 * kib, above(0, kafka4), "[32 16 16]", "[16 16]", kafka4},
		{"a refusal holds up no other request", 200 * kib, func(_ int, first bool) *kerr.Error {
			if first {
				return kerr.OffsetMetadataTooLarge
			}
			return nil
		}, "[400 400]", "[400 400]", kerr.OffsetMetadataTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlace(t)
				r := newRecorder(100)
				cfg := p.config(r, 100)
				cfg.CommitEvery = time.Hour
				m, err := Open(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				p.until("partitions", func() bool { return len(m.Owned()) == 4 })
				p.produce(4)
				p.take(m, 4)
				var mu sync.Mutex
				var sizes []int
				p.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
					p.cluster.KeepControl()
					mu.Lock()
					defer mu.Unlock()
					size, first := metadataOf(req.(*kmsg.OffsetCommitRequest))
					sizes = append(sizes, size/kib)
					var refusal *kerr.Error
					if c.refuses != nil {
						refusal = c.refuses(size, first)
					}
					return answerTo(req.(*kmsg.OffsetCommitRequest), refusal), nil, true
				})
				for i, want := range []string{c.first, c.second} {
					r.mu.Lock()
					r.metadata = strings.Repeat(string(rune('a'+i)), c.each)
					r.mu.Unlock()
					err := m.Commit(t.Context())
					mu.Lock()
					if got := fmt.Sprint(sizes); !errors.Is(err, c.err) || err != nil && c.err == nil || got != want {
						t.Errorf("commit %d: requests of %s KiB, want %s; %v", i, got, want, err)
					}
					sizes = nil
					mu.Unlock()
				}
				left := len(m.offsets.changed(r.Committable(nil)))
				if want := map[error]int{nil: 0, kerr.UnknownServerError: 4, kerr.OffsetMetadataTooLarge: 2}[c.err]; left != want {
					t.Errorf("%d partitions are not committed, want %d", left, want)
				}
				r.mu.Lock()
				r.metadata = ""
				r.mu.Unlock()
				_ = m.Close(t.Context())
				r.set.Close()
			})
		})
	}
}

func above(most int, refusal *kerr.Error) func(int, bool) *kerr.Error {
	return func(size int, _ bool) *kerr.Error {
		if size > most {
			return refusal
		}
		return nil
	}
}

// metadataOf is the length of all metadata of a request, and whether partition 0 is in it.
func metadataOf(req *kmsg.OffsetCommitRequest) (size int, first bool) {
	for _, topic := range req.Topics {
		for _, p := range topic.Partitions {
			size += len(*p.Metadata)
			first = first || p.Partition == 0
		}
	}
	return size, first
}

// answerTo takes all of a request, or refuses it.
func answerTo(req *kmsg.OffsetCommitRequest, refusal *kerr.Error) *kmsg.OffsetCommitResponse {
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	for _, topic := range req.Topics {
		of := kmsg.NewOffsetCommitResponseTopic()
		of.Topic, of.TopicID = topic.Topic, topic.TopicID
		for _, p := range topic.Partitions {
			one := kmsg.NewOffsetCommitResponseTopicPartition()
			if one.Partition = p.Partition; refusal != nil {
				one.ErrorCode = refusal.Code
			}
			of.Partitions = append(of.Partitions, one)
		}
		resp.Topics = append(resp.Topics, of)
	}
	return resp
}

func (p *place) receive(what string, c <-chan struct{}) {
	p.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		p.Fatalf("%s: not within %v", what, patience)
	}
}

func (p *place) outcome(what string, c <-chan error) error {
	p.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(patience):
		p.Fatalf("%s: no end within %v", what, patience)
		return nil
	}
}

// The cluster may have a commit that it did not answer, for example because Close ended the wait. So a commit that equals
// the one before it is made all the same; else the cluster would keep a delivery that was taken back since.
func TestACommitBehindAnUnansweredOne(t *testing.T) {
	t.Parallel()
	m := &Member{offsets: newOffsets()}
	before, between := Offset{At: 5, Metadata: "before"}, Offset{At: 5, Metadata: "between"}
	m.offsets.assign(0, before, 5)
	if left := m.offsets.changed(map[int32]Offset{0: before}); len(left) > 0 {
		t.Errorf("nothing has changed, and %v are to be committed", left)
	}
	if err := m.committed(t.Context(), nil, context.Canceled, map[int32]Offset{0: between}); !errors.Is(err, context.Canceled) {
		t.Errorf("the commit: %v", err)
	}
	if left := m.offsets.changed(map[int32]Offset{0: before}); left[0] != before {
		t.Errorf("%v are to be committed, want %v", left, before)
	}
	m.offsets.commit(0, before)
	if left := m.offsets.changed(map[int32]Offset{0: before}); len(left) > 0 {
		t.Errorf("it is committed, and %v are to be committed", left)
	}
}
