package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/runname"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

func (r *run) openTopic(ctx context.Context) error {
	name, err := r.openAdmin()
	if err != nil {
		return err
	}
	if err := r.permitted(ctx, name); err != nil {
		return err
	}
	if existing := r.cfg.Scenario.Topic.Existing; existing == "" {
		err = r.createTopic(ctx, name)
	} else {
		var groups string
		if groups, err = r.useExisting(ctx, existing); groups != "" {
			r.journal.Now("warning", groups, "")
		}
	}
	if err != nil {
		return err
	}
	return r.checkKeys(ctx)
}

// openAdmin chooses the names of the run's topic and groups, and returns that of a topic of its own.
func (b *base) openAdmin() (topic string, err error) {
	if b.admin, err = cluster.NewAdmin(b.seeds(), b.access()); err != nil {
		return "", err
	}
	s := b.cfg.Scenario
	b.named = runname.New(s.Name, b.runID, time.Now(), Lasts(s, b.cfg.Joining))
	b.named.Kept = b.cfg.KeepTopics
	topic = b.named.String()
	b.groupIDs = groupNames(cmp.Or(s.Consume.Group, topic), s.Consume.Groups)
	return cmp.Or(s.Topic.Name, topic), nil
}

// permitted refuses names that the cluster already has, and a user without the rights of the run.
func (b *base) permitted(ctx context.Context, topic string) error {
	if err := b.admin.CheckNew(ctx, b.chosenTopics(), b.chosenGroups()); err != nil {
		return err
	}
	existing := b.cfg.Scenario.Topic.Existing
	return b.admin.CheckRights(ctx, cluster.Topic{Name: cmp.Or(existing, topic), Existing: existing != ""}, b.uses())
}

func (b *base) checkKeys(ctx context.Context) error {
	if !b.cfg.Scenario.Keyless() || !b.admin.Compacts(ctx, b.topic) {
		return nil
	}
	return &cluster.Error{
		Kind:   cluster.ErrInput,
		What:   fmt.Sprintf("the topic %q is compacted, and brokers refuse records without keys in it", b.topic.Name),
		Remedy: scenario.KeysForCompaction,
	}
}

// uses returns what the run does with its topic and its groups.
func (b *base) uses() cluster.Uses {
	s := b.cfg.Scenario
	u := cluster.Uses{Produces: !b.readOnly() || s.Filled(), Consumes: s.Consume.Consumers > 0, Deletes: !b.cfg.KeepTopics}
	if u.Consumes && s.Consume.Assignment != "manual" {
		u.Groups = b.groupIDs
	}
	return u
}

// useExisting returns a warning if the run's records are also for groups of others, or if that is not known.
func (b *base) useExisting(ctx context.Context, name string) (warning string, err error) {
	if b.topic, err = b.admin.UseExisting(ctx, name); err != nil || b.readOnly() {
		return "", err
	}
	if allowed := b.cfg.Guards.Replicated; allowed != nil {
		if err := allowed(name, b.topic.Replicas); err != nil {
			return "", err
		}
	}
	groups, err := b.admin.GroupsOn(ctx, name)
	switch {
	case err != nil:
		return fmt.Sprintf("the groups that have offsets of the topic %s are not known (%v)", name, err), nil
	case len(groups) > 0:
		return fmt.Sprintf("the records of this run are also for the groups with offsets of the topic %s (%s)", name,
			strings.Join(groups, ", ")), nil
	}
	return "", nil
}

const (
	// slowestFill is how fast a topic is filled at least, in bytes/s.
	slowestFill = 1e6
	longestFill = 10 * 365 * 24 * time.Hour
	// besidesPhases is more than all time limits before the warm-up and after the drain.
	besidesPhases = 30 * time.Minute
)

// Lasts returns how long a run of s may need its topics and groups, at most. joining is how long agents may take to
// join, or 0. The topics' names have the time at which this ends.
func Lasts(s scenario.Scenario, joining time.Duration) time.Duration {
	return planned(s) + joining + besidesPhases
}

// planned is how long the fill and the phases of s last, at most.
func planned(s scenario.Scenario) time.Duration {
	_, most := s.Duration()
	return most + max(s.FillTime(), time.Duration(min(s.FillBytes()/slowestFill, longestFill.Seconds())*float64(time.Second)))
}

const retention = "retention.ms"

// topicConfig returns the settings of a topic that the run creates. Brokers delete the records of a killed run by
// themselves; no record of a run that goes on is old enough.
func (b *base) topicConfig(config map[string]string) map[string]string {
	embedded := b.cfg.Cluster.Info().Kind == cluster.KindEmbedded // it ends with this process
	if _, chosen := config[retention]; chosen || embedded || b.cfg.KeepTopics {
		return config
	}
	config = maps.Clone(config)
	if config == nil {
		config = make(map[string]string)
	}
	config[retention] = strconv.FormatInt((2*planned(b.cfg.Scenario) + time.Hour).Milliseconds(), 10)
	return config
}

func (b *base) chosenTopics() (names []string) {
	name, queue := b.cfg.Scenario.Topic.Name, b.cfg.Scenario.Consume.Queue
	if name == "" {
		return nil
	}
	names = []string{name}
	if queue.Engine == markersEngine {
		names = append(names, name+markersSuffix)
	}
	if queue.Used() {
		names = append(names, name+deadSuffix)
	}
	if retry := b.retryTopic(); retry != "" {
		names = append(names, name+retrySuffix)
	}
	return names
}

func (b *base) chosenGroups() []string {
	c := b.cfg.Scenario.Consume
	switch {
	case c.Group == "" || c.Consumers == 0:
		return nil
	case c.Queue.Engine == markersEngine:
		return append(slices.Clone(b.groupIDs), b.groupIDs[0]+trackerSuffix)
	}
	return b.groupIDs
}

const createTimeout = 30 * time.Second

// An interrupt does not cancel createTopic, because a topic whose ID is unknown cannot be deleted.
// Without an answer, it looks for the topic by its name. If the scenario chose the name, that topic
// may be another user's, so the error only says that the topic may exist.
func (b *base) createTopic(ctx context.Context, name string) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	t := b.cfg.Scenario.Topic
	if b.topic, err = b.admin.CreateTopic(ctx, name, t.Partitions, t.Replication, b.topicConfig(t.Config)); err == nil ||
		b.topic.Name != "" || errors.Is(err, cluster.ErrRefused) {
		return err
	}
	if t.Name != "" {
		return fmt.Errorf("%w; the topic %s may have been made all the same: if so, delete it by hand", err, name)
	}
	look, cancelLook := context.WithTimeout(context.WithoutCancel(ctx), observe.ReadTimeout)
	defer cancelLook()
	if made, lookErr := b.admin.UseExisting(look, name); lookErr == nil {
		made.Existing = false
		b.topic = made
	}
	return err
}

const removeTimeout = 10 * time.Second

func (r *run) removeTopic() {
	if r.admin == nil {
		return
	}
	defer func() {
		r.admin.Close()
		r.admin = nil
	}()
	ctx, cancel := context.WithTimeout(context.Background(), r.patience(removeTimeout))
	defer cancel()
	if r.queue != nil && !r.cfg.KeepTopics {
		r.leftBehind = append(r.leftBehind, r.queue.remove(ctx)...)
	}
	if !r.cfg.KeepTopics && r.topic.Name != "" {
		if err := r.admin.DeleteTopic(ctx, r.topic); err != nil {
			r.leftBehind = append(r.leftBehind, fmt.Errorf("the run's topic %s was not deleted: %w", r.topic.Name, err))
		}
	}
	if r.grouped && !r.cfg.KeepTopics {
		for _, id := range r.groupIDs {
			err := r.deleteGroup(ctx, id)
			if err != nil && r.cfg.Scenario.Consume.Group != "" { // because of it, the scenario's next run would be refused
				r.leftBehind = append(r.leftBehind, fmt.Errorf("the run's group %s was not deleted: %w", id, err))
			}
		}
	}
}

// deleteGroup first puts out all members if some may have ended without leaving: the deletion would
// wait for their session timeouts.
func (b *base) deleteGroup(ctx context.Context, group string) error {
	if b.couldNotLeave {
		_ = b.admin.PutOut(ctx, group)
	}
	return b.admin.DeleteGroup(ctx, group)
}
