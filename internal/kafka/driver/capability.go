package driver

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// Lacks reports whether d lacks c.
func Lacks(d Driver, c Capability) bool {
	_, lacking := d.Lacks()[c]
	return lacking
}

// Lacking returns an ErrConfig for a configuration that asks for what d lacks.
func Lacking(d Driver, c Capability, remedy string) error {
	return fmt.Errorf("%w: %s lacks %s (%s); %s, or take another driver", ErrConfig, d.Name(), c, d.Lacks()[c], remedy)
}

type need struct {
	capability Capability
	asked      bool
	without    string
}

func producerNeeds(cfg ProducerConfig) []need {
	return append(accessNeeds(cfg.Access), []need{
		{Idempotence, cfg.Idempotent, "switch idempotent off"},
		{CompressionLevels, cfg.Level != 0, "leave the level of compression out"},
		{InFlightLimit, cfg.InFlight != 0, "leave the limit of requests in flight out"},
		{OneRecordBatches, cfg.OneRecord, "give batches a size"},
	}...)
}

func consumerNeeds(cfg ConsumerConfig) []need {
	return append(accessNeeds(cfg.Access), []need{
		{ServerGroups, cfg.Protocol == ProtocolConsumer && cfg.Group != "", "use the group protocol classic"},
		{ManualPartitions, cfg.Partitions != nil && cfg.Group == "", "read as a group"},
		{SessionTimeouts, cfg.SessionTimeout != 0, "leave the session timeout out"},
		{StickyAssignor, cfg.Assignor == Sticky, "choose " + Range},
		{CooperativeSticky, cfg.Assignor == Cooperative, "choose " + Range},
		{ReadControl, cfg.ControlRecords, "read no further than the last record"},
	}...)
}

func accessNeeds(a access.Access) (needs []need) {
	for c, remedy := range AccessNeeds(a) {
		needs = append(needs, need{c, true, remedy})
	}
	return needs
}

// AccessNeeds returns what clients need to connect with this access, each with how to do without it.
func AccessNeeds(a access.Access) map[Capability]string {
	needs := make(map[Capability]string)
	if a.TLS != nil || a.SASL != nil {
		needs[EncryptedAccess] = "use a plaintext listener"
	}
	if a.SASL != nil && a.SASL.Mechanism == access.MechanismKerberos {
		needs[KerberosAccess] = "use a listener with another sasl.mechanism"
	}
	if a.LimitsTLS() {
		needs[TLSVersions] = "leave ssl.protocol and ssl.enabled.protocols out"
	}
	return needs
}

func firstLacking(d Driver, needs []need) error {
	for _, n := range needs {
		if n.asked && Lacks(d, n.capability) {
			return Lacking(d, n.capability, n.without)
		}
	}
	return nil
}
