package result

// Queue is what became of the records that consumers took from a queue of package kmq,
// which is acknowledged record by record. Counts are of the records of the measured
// window, by their intended send time, as Run.Delivery's are, and of those of the fill
// where that was all there was to read; what is not says so. The books balance:
// acked of Run.Load = unique_acked ∪ dead_lettered + pending + lost, of the acked.
type Queue struct {
	Engine  string `json:"engine"`
	Nodes   int    `json:"nodes"`   // queues that share the group, each a member
	Threads int    `json:"threads"` // of each node

	// Received are all deliveries to the application, Redelivered those of records that
	// it had been handed before: received = unique_delivered + redelivered.
	Received        int64 `json:"received"`
	UniqueDelivered int64 `json:"unique_delivered"`
	Redelivered     int64 `json:"redelivered"`
	// UniqueAcked were acknowledged, AckedAgain are acknowledgements of records that had
	// been acknowledged before.
	UniqueAcked int64 `json:"unique_acked"`
	AckedAgain  int64 `json:"acked_again,omitempty"`
	// DeadLettered are different records in the topic of dead letters, and
	// AckedAndDead those of them that were acknowledged as well.
	DeadLettered int64 `json:"dead_lettered"`
	AckedAndDead int64 `json:"acked_and_dead_lettered,omitempty"`
	// Pending are acked by the brokers, and neither acknowledged by the application nor
	// dead letters; Lost those that the queue does not have any more either.
	Pending int64 `json:"pending"`
	Lost    int64 `json:"lost"`

	// Dropped are deliveries of which the application said nothing, on purpose, and
	// Nacked those that it gave back. GivenUp were worked on and settled too late: by
	// what the queue answered (expired, lost, error). Unsettled were in the hands of a
	// consumer that was killed or stopped.
	Dropped   int64  `json:"dropped"`
	Nacked    int64  `json:"nacked"`
	GivenUp   Counts `json:"given_up,omitempty"`
	Unsettled int64  `json:"unsettled,omitempty"`

	// Of the whole run, by the queue's own count: locks that ran out in the consumers,
	// records that were copied to the tail of their partition, and records that were to
	// be delivered again and were not in the log any more.
	Expired int64 `json:"expired"`
	Tailed  int64 `json:"tailed"`
	Missing int64 `json:"missing"`

	// AckedPerS are first acknowledgements within the measured window ÷ its length,
	// whatever phase their records belong to.
	AckedPerS float64 `json:"acked_per_s"`

	// DeliveriesPerRecord is received ÷ unique_delivered; null where nothing was
	// delivered. ExpectedDeliveriesPerRecord is what it has to be by the arithmetic of
	// the drops, of records that are all settled.
	DeliveriesPerRecord         *float64 `json:"deliveries_per_record"`
	ExpectedDeliveriesPerRecord float64  `json:"expected_deliveries_per_record"`
	// DeliveriesByAttempt are the deliveries that were the first of their record, the
	// second and so on, by what the application had been handed; the last are all from
	// there on. Tail is each of them ÷ the one before.
	DeliveriesByAttempt []int64   `json:"deliveries_by_attempt,omitempty"`
	Tail                []float64 `json:"tail_ratio,omitempty"`
	// AttemptsDiffer are deliveries of which the queue says another number than that.
	// What was fetched by a consumer and not handed to it counts for the queue alone.
	AttemptsDiffer int64 `json:"attempts_differ,omitempty"`

	// Lateness is Time's redelivery_lateness, and SettleTime its settle_time; null where
	// there is none.
	Lateness   *Time `json:"lateness"`
	SettleTime *Time `json:"settle_time"`

	// InFlightPeakRecords is the most that all consumers together had fetched and not
	// settled, as far as it was seen at the ends of intervals.
	InFlightPeakRecords int64 `json:"in_flight_peak_records"`
	// RetentionAlarm is what the queue said was about to be lost; empty: nothing.
	RetentionAlarm string `json:"retention_alarm,omitempty"`

	// Cost is what the queue's records took in the measured window; null where nothing
	// was acknowledged in it.
	Cost *QueueCost `json:"cost"`
}

// QueueCost is what requests and bytes a record took that was acknowledged for the first
// time, in the measured window. The clients' are those of the consumers' queues, with
// their markers, copies and commits; the brokers' are of everything that went on, the
// producers and the replication included, and null where the brokers did not tell.
type QueueCost struct {
	ClientRequestsPerRecord     float64 `json:"client_requests_per_record"`
	ClientWrittenBytesPerRecord float64 `json:"client_written_bytes_per_record"`
	ClientReadBytesPerRecord    float64 `json:"client_read_bytes_per_record"`
	// ClientRequests are those requests by type, in all.
	ClientRequests Counts `json:"client_requests,omitempty"`

	BrokerRequestsPerRecord *float64 `json:"broker_requests_per_record"`
	BrokerBytesInPerRecord  *float64 `json:"broker_bytes_in_per_record"`
	BrokerBytesOutPerRecord *float64 `json:"broker_bytes_out_per_record"`
}
