package scenario

import "slices"

// The answers that a suite's report may end in: which sentence answers its question.
const (
	MostAnswer    = "most"    // which configuration reached most, and what share of it the others
	KneeAnswer    = "knee"    // the record size from which bytes cost more than records
	ScalingAnswer = "scaling" // speed-up and efficiency against the first configuration
	// PerConsumerAnswer is what each consumer read, with more of them and with more brokers.
	PerConsumerAnswer = "per-consumer"
	EnoughAnswer      = "enough"   // the least of a setting that reaches what more of it does
	SlopeAnswer       = "slope"    // what the throughput lost with what lay in the log
	TimesAnswer       = "times"    // the end-to-end times beside each other
	FailoverAnswer    = "failover" // what a fault of a broker cost
	SavingsAnswer     = "savings"  // which saves the most bytes, and what each costs
	PayloadsAnswer    = "payloads" // how much depends on what is in the records

	// Of the engines of a queue.
	EnginesAnswer       = "engines"        // what each acknowledged, held against plain
	EngineScalingAnswer = "engine-scaling" // what more nodes, threads and partitions bring each
	EngineTimesAnswer   = "engine-times"   // what each added to the times of plain
	RedeliveryAnswer    = "redelivery"     // deliveries, their tail and their lateness against the arithmetic
	EngineFaultsAnswer  = "engine-faults"  // what a fault cost each
	DecisionAnswer      = "decision"       // which engine for which work
)

var answers = []string{
	MostAnswer, KneeAnswer, ScalingAnswer, PerConsumerAnswer, EnoughAnswer, SlopeAnswer, TimesAnswer, FailoverAnswer,
	SavingsAnswer, PayloadsAnswer,
	EnginesAnswer, EngineScalingAnswer, EngineTimesAnswer, RedeliveryAnswer, EngineFaultsAnswer, DecisionAnswer,
}

// Answers lists the words that answer: may have.
func Answers() []string { return slices.Clone(answers) }
