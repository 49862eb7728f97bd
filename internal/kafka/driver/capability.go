package driver

import "fmt"

// Lacks tells whether d lacks c.
func Lacks(d Driver, c Capability) bool {
	_, lacking := d.Lacks()[c]
	return lacking
}

// Lacking returns the error of a client that is asked for what it lacks. It names the
// client, what it lacks and why, and what to do about it, and it is bad input.
func Lacking(d Driver, c Capability, remedy string) error {
	return fmt.Errorf("%w: %s lacks %s (%s); %s, or take another driver", ErrConfig, d.Name(), c, d.Lacks()[c], remedy)
}

// need is a capability that a configuration asks for, and how not to.
type need struct {
	capability Capability
	asked      bool
	without    string
}

// producerNeeds are the capabilities that cfg may ask for.
func producerNeeds(cfg ProducerConfig) []need {
	return []need{
		{EncryptedAccess, cfg.Access.TLS != nil || cfg.Access.SASL != nil, "name a listener in plain text"},
		{Idempotence, cfg.Idempotent, "switch idempotent off"},
		{CompressionLevels, cfg.Level != 0, "leave the level of compression out"},
		{InFlightLimit, cfg.InFlight != 0, "leave the limit of requests in flight out"},
		{OneRecordBatches, cfg.OneRecord, "give batches a size"},
	}
}

// consumerNeeds are the capabilities that cfg may ask for.
func consumerNeeds(cfg ConsumerConfig) []need {
	return []need{
		{EncryptedAccess, cfg.Access.TLS != nil || cfg.Access.SASL != nil, "name a listener in plain text"},
		{ServerGroups, cfg.Protocol == ProtocolConsumer && cfg.Group != "", "use the group protocol classic"},
		{ManualPartitions, cfg.Partitions != nil && cfg.Group == "", "read as a group"},
		{SessionTimeouts, cfg.SessionTimeout != 0, "leave the session timeout out"},
		{StickyAssignor, cfg.Assignor == Sticky, "choose " + Range},
		{CooperativeSticky, cfg.Assignor == Cooperative, "choose " + Range},
		{ReadControl, cfg.ControlRecords, "read no further than the last record"},
	}
}

func firstLacking(d Driver, needs []need) error {
	for _, n := range needs {
		if n.asked && Lacks(d, n.capability) {
			return Lacking(d, n.capability, n.without)
		}
	}
	return nil
}
