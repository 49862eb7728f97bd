package scenario

import "strings"

// synonyms are the words of other tools, and of Kafka's own settings, in small
// letters and without what stands between them, with what they are here.
// docs/COMING_FROM.md has them tool by tool.
var synonyms = map[string]string{
	"throughput": "load.rate", "targetthroughput": "load.rate", "targetrate": "load.rate",
	"producerrate": "load.rate",
	"messagerate":  "load.rate", "msgrate": "load.rate", "recordrate": "load.rate",
	"messagespersecond": "load.rate", "recordspersecond": "load.rate",

	"duration": "phases.measure", "testduration": "phases.measure", "testdurationminutes": "phases.measure",
	"runtime":    "phases.measure",
	"warmuptime": "phases.warmup", "warmupduration": "phases.warmup", "warmupdurationminutes": "phases.warmup",
	"warmuprecords": "phases.warmup, a time",
	"numrecords":    "load.records", "nummessages": "load.records", "messages": "load.records",
	"maxmessages": "load.records", "recordsperproducer": "load.records_each", "messagesperproducer": "load.records_each",
	"topicname": "topic.name, of a new one, or topic.existing", "groupid": "consume.group, of a new one",
	"consumergroup": "consume.group, of a new one", "groupname": "consume.group, of a new one",
	"consumerbacklogsizegb": "load.volume, with consume.hold",

	"messagesize": "load.record.size", "msgsize": "load.record.size", "recordsize": "load.record.size",
	"payloadsize": "load.record.size",
	"valuesize":   "load.record.size", "messagelength": "load.record.size", "messagebytes": "load.record.size",
	"recordbytes":      "load.record.size",
	"messagelengthmax": "load.record.size, as in {uniform: [512B, 1KiB]}",
	"payloadtype":      "load.record.payload", "payloadfile": "load.record.payload, which is generated",
	"userandomizedpayloads": "load.record.payload",
	"keydistributor":        "load.record.keys", "keydistribution": "load.record.keys.distribution",

	"numproducers": "load.producers", "producercount": "load.producers", "producerspertopic": "load.producers",
	"batchsize": "load.batch", "batchbytes": "load.batch", "lingerms": "load.linger", "requiredacks": "load.acks",
	"compressiontype": "load.compression", "compressioncodec": "load.compression", "codec": "load.compression",
	"compressionlevel": "load.level",
	"idempotence":      "load.idempotent", "enableidempotence": "load.idempotent",
	"deliverytimeoutms": "load.delivery_timeout",
	"maxinflight":       "load.in_flight", "maxinflightrequestsperconnection": "load.in_flight",
	"buffermemory": "load.max_buffered, in records", "maxrequestsize": "load.batch",
	"partitioner": "load.partitioning",
	"burstrate":   "load.arrival.peak", "burstduration": "load.arrival.length", "burstperiod": "load.arrival.period",

	"numconsumers": "consume.consumers", "consumercount": "consume.consumers",
	"consumerpersubscription": "consume.consumers",
	"subscriptionspertopic":   "consume.groups", "consumergroups": "consume.groups",
	"initialoffset":   "consume.from, of a topic.existing",
	"autooffsetreset": "consume.from, of a topic.existing", "groupprotocol": "consume.protocol",
	"enableautocommit": "consume.commit", "autocommitintervalms": "consume.commit",
	"commitinterval": "consume.commit",
	"fetchminbytes":  "consume.fetch.min_bytes", "fetchmaxbytes": "consume.fetch.max_bytes",
	"fetchmaxwaitms":         "consume.fetch.max_wait",
	"maxpartitionfetchbytes": "consume.fetch.max_partition_bytes", "fetchsize": "consume.fetch.max_partition_bytes",
	"partitionassignmentstrategy": "consume.assignor", "assignmentstrategy": "consume.assignor",
	"rebalancestrategy": "consume.assignor",
	"producerconfig":    "load.client, by the driver's names", "producerprops": "load.client, by the driver's names",
	"consumerconfig": "consume.client, by the driver's names", "consumerprops": "consume.client, by the driver's names",
	"delay": "consume.work", "processingtime": "consume.work", "worktime": "consume.work",
	"phasedelay": "consume.changes", "phaseduration": "consume.changes",

	"visibilitytimeout": "consume.queue.visibility", "lockduration": "consume.queue.visibility",
	"redeliverafter":  "consume.queue.visibility",
	"maxreceivecount": "consume.queue.max_deliveries", "deliverycountlimit": "consume.queue.max_deliveries",
	"maxattempts":     "consume.queue.max_deliveries",
	"deadletterqueue": "consume.queue.dead_letter", "dlq": "consume.queue.dead_letter",
	"deadlettertopic": "consume.queue.dead_letter",
	"prefetch":        "consume.queue.in_flight", "redeliverytracker": "consume.queue.tracker",

	"numpartitions": "topic.partitions", "partitionspertopic": "topic.partitions",
	"replicationfactor": "topic.replication", "replicas": "topic.replication", "topicconfig": "topic.config",
	"topics":            "topic, of which a run has one",
	"mininsyncreplicas": "topic.config.min.insync.replicas", "retentionms": "topic.config.retention.ms",
	"maxmessagebytes": "topic.config.max.message.bytes",

	"maxlagrecords": "backpressure.max_lag", "pollinterval": "backpressure.poll",
	"lagthreshold": "backpressure.max_lag",
	"credits":      "backpressure.max_lag, with controller: credit", "algorithm": "backpressure.controller",
	"targetlatency": "backpressure.target", "latencytarget": "backpressure.target",
	"samplerate": "backpressure.keep, with excess: degrade", "failopen": "backpressure.blind",
	"onfailure": "backpressure.blind",
	"prefill":   "topic.fill", "preload": "topic.fill", "backlogsize": "topic.fill",
	"cpus": "consume.cpu", "cpulimit": "consume.cpu", "cores": "consume.cpu", "gomaxprocs": "consume.cpu",
	"memorylimit": "consume.memory", "memlimit": "consume.memory", "gomemlimit": "consume.memory",
	"consumerprocesses": "consume.processes",
	"short":             "quick", "smoke": "quick", "jmx": "cluster.metrics", "jmxport": "cluster.metrics",
	"isrinterval": "sampling.replicas",
	"downtime":    "faults, with for: 5s", "sigstop": "faults, with pause", "sigkill": "faults, with kill",
	"faultinjection": "faults", "failures": "faults", "chaos": "faults",
	"sessiontimeoutms": "consume.session_timeout",
	"numprocesses":     "load.processes", "cases": "variants", "configurations": "variants",
	"reportinterval": "sampling.interval", "reportinginterval": "sampling.interval",
	"logintervalmillis": "sampling.interval", "laginterval": "sampling.lag",
	"runs": "repeat", "iterations": "repeat", "repetitions": "repeat", "runsteps": "repeat",

	"bootstrapservers": "the flag --brokers", "bootstrapserver": "the flag --brokers",
	"brokerlist":  "the flag --brokers",
	"driverclass": "driver", "clientlibrary": "driver", "library": "driver",
	"output": "the flag --out", "outputfile": "the flag --out",
}

// synonym is what somebody calls word who comes from another tool; "" if nobody
// is known to.
func synonym(word string) string {
	return synonyms[strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(word))]
}
