package scenario

const (
	MostAnswer    = "most"    // which configuration reached most, and the others' part of it
	KneeAnswer    = "knee"    // the record size from which bytes cost more than records
	ScalingAnswer = "scaling" // speed-up and efficiency compared with the first configuration
	// PerConsumerAnswer is what each consumer read as consumers and brokers increase.
	PerConsumerAnswer = "per-consumer"
	EnoughAnswer      = "enough"   // the smallest value of a setting that reaches what a larger one does
	SlopeAnswer       = "slope"    // how much throughput fell as the log grew
	TimesAnswer       = "times"    // a comparison of end-to-end times
	FailoverAnswer    = "failover" // the cost of a broker's fault
	SavingsAnswer     = "savings"  // which saves the most bytes, and the cost of each
	PayloadsAnswer    = "payloads" // how much depends on the records' contents

	// Answers about engines.
	EnginesAnswer       = "engines"        // what each acknowledged, compared with plain
	EngineScalingAnswer = "engine-scaling" // what more nodes, threads and partitions add to each
	EngineTimesAnswer   = "engine-times"   // what each added to the times of plain
	RedeliveryAnswer    = "redelivery"     // deliveries, their tail and their lateness compared with the expected ones
	EngineFaultsAnswer  = "engine-faults"  // the cost of a fault for each
	DecisionAnswer      = "decision"       // which engine for which work
)

var answers = []string{
	MostAnswer, KneeAnswer, ScalingAnswer, PerConsumerAnswer, EnoughAnswer, SlopeAnswer, TimesAnswer, FailoverAnswer,
	SavingsAnswer, PayloadsAnswer,
	EnginesAnswer, EngineScalingAnswer, EngineTimesAnswer, RedeliveryAnswer, EngineFaultsAnswer, DecisionAnswer,
}
