package result

// Queue is what happened to the records that consumers took from a queue of package kmq. Counts are
// of records of the measured window, by their intended send time, and of the fill if there was
// nothing else to read. The books balance: acked of Run.Load = unique_acked ∪ dead_lettered +
// pending + lost.
type Queue struct {
	Engine  string `json:"engine"`
	Nodes   int    `json:"nodes"`   // queues that share the group, each a member
	Threads int    `json:"threads"` // of each node

	// Received are all deliveries to the application, Redelivered the repeated ones: received =
	// unique_delivered + redelivered.
	Received        int64 `json:"received"`
	UniqueDelivered int64 `json:"unique_delivered"`
	Redelivered     int64 `json:"redelivered"`
	// UniqueAcked are first acknowledgements, AckedAgain repeated ones.
	UniqueAcked int64 `json:"unique_acked"`
	AckedAgain  int64 `json:"acked_again,omitempty"`
	// DeadLettered are distinct records in the dead-letter topic, and AckedAndDead those of them
	// that were acknowledged too.
	DeadLettered int64 `json:"dead_lettered"`
	AckedAndDead int64 `json:"acked_and_dead_lettered,omitempty"`
	// Pending and Lost are acked by the brokers, and neither acknowledged by the application nor
	// dead letters. The queue no longer has the lost ones.
	Pending int64 `json:"pending"`
	Lost    int64 `json:"lost"`

	// Dropped are deliveries that the application did not answer, on purpose; Nacked those that it
	// gave back. GivenUp are deliveries that were processed and settled too late, by the queue's
	// answer (expired, lost, error). Unsettled are deliveries that a consumer held when it was
	// killed or stopped.
	Dropped   int64  `json:"dropped"`
	Nacked    int64  `json:"nacked"`
	GivenUp   Counts `json:"given_up,omitempty"`
	Unsettled int64  `json:"unsettled,omitempty"`

	// Of the whole run, by the queue's own count. Expired: locks that expired in consumers. Tailed:
	// records that were copied for another delivery: to the group's retry topic, or before to the tail of
	// their partition. Missing: records to redeliver that were no longer in the log.
	Expired int64 `json:"expired"`
	Tailed  int64 `json:"tailed"`
	Missing int64 `json:"missing"`

	// AckedPerS is the number of first acknowledgements within the measured window ÷ its length, of
	// records of any phase.
	AckedPerS float64 `json:"acked_per_s"`

	// DeliveriesPerRecord is received ÷ unique_delivered; null without deliveries.
	// ExpectedDeliveriesPerRecord is the expected value by the scenario's drops, if all records are
	// settled.
	DeliveriesPerRecord         *float64 `json:"deliveries_per_record"`
	ExpectedDeliveriesPerRecord float64  `json:"expected_deliveries_per_record"`
	// DeliveriesByAttempt counts first deliveries, second ones and so on, as the application
	// received them; the last entry includes all further ones. Tail is each entry ÷ the one before.
	DeliveriesByAttempt []int64   `json:"deliveries_by_attempt,omitempty"`
	Tail                []float64 `json:"tail_ratio,omitempty"`
	// AttemptsDiffer are deliveries whose attempt number from the queue is not the application's
	// count, because the queue also counts records that a consumer fetched and did not deliver.
	AttemptsDiffer int64 `json:"attempts_differ,omitempty"`

	// Lateness is Time's redelivery_lateness, and SettleTime its settle_time; null without values.
	Lateness   *Time `json:"lateness"`
	SettleTime *Time `json:"settle_time"`

	// InFlightPeakRecords is the most records that all consumers had fetched and not settled, at
	// the ends of intervals.
	InFlightPeakRecords int64 `json:"in_flight_peak_records"`
	// RetentionAlarm is the queue's warning of records about to be lost; empty without one.
	RetentionAlarm string `json:"retention_alarm,omitempty"`

	// Cost is null if nothing was acknowledged in the measured window.
	Cost *QueueCost `json:"cost"`
}

// QueueCost is the number of requests and bytes per first acknowledged record in the measured
// window. The clients' figures are those of the consumers' queues, with markers, copies and
// commits. The brokers' figures are of all clients and the replication, and null if the brokers did
// not report them.
type QueueCost struct {
	ClientRequestsPerRecord     float64 `json:"client_requests_per_record"`
	ClientWrittenBytesPerRecord float64 `json:"client_written_bytes_per_record"`
	ClientReadBytesPerRecord    float64 `json:"client_read_bytes_per_record"`
	// ClientRequests are the clients' requests by type, in total.
	ClientRequests Counts `json:"client_requests,omitempty"`

	BrokerRequestsPerRecord *float64 `json:"broker_requests_per_record"`
	BrokerBytesInPerRecord  *float64 `json:"broker_bytes_in_per_record"`
	BrokerBytesOutPerRecord *float64 `json:"broker_bytes_out_per_record"`
}
