package scenario

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// synonyms map words of other tools and of Kafka's settings, in lower case without separators, to a
// key, flag, preset or command here, or to why there is none. docs/COMING_FROM.md has them by tool.
// Alternatives are separated by ", or ", and a remark follows ", ". "KEY: VALUE" is the key with
// that value, whatever the word's value is.
var synonyms = map[string]string{
	"throughput": "load.rate", "targetthroughput": "load.rate", "targetrate": "load.rate",
	"producerrate": "load.rate",
	"rps":          "load.rate", "qps": "load.rate", "tps": "load.rate",
	"messagerate": "load.rate", "msgrate": "load.rate", "recordrate": "load.rate",
	"messagespersecond": "load.rate", "recordspersecond": "load.rate",

	"duration": "phases.measure", "durations": "phases.measure", "testlengthseconds": "phases.measure",
	"testduration": "phases.measure", "testdurationminutes": "phases.measure",
	"runtime":    "phases.measure",
	"warmuptime": "phases.warmup", "warmupduration": "phases.warmup", "warmupdurationminutes": "phases.warmup",
	"warmups":                "phases.warmup",
	"warmuprecords":          "phases.warmup: a time",
	"startingwarmuptime":     "cluster.warmup",
	"msgspersecond":          "load.rate, of all producers together",
	"msgsperprocessinsecond": "load.rate, of all producers together",
	"msgcountperthread":      "load.records_each",
	"numrecords":             toSendOrRead, "nummessages": toSendOrRead, "messages": toSendOrRead,
	"n": toSendOrRead, "nodes": "cluster.brokers, or consume.consumers, with a queue, and load.processes", "rf": "topic.replication",
	"maxmessages": toSendOrRead, "messagecount": toSendOrRead, "recordsperproducer": "load.records_each",
	"messagesperproducer": "load.records_each",
	"topicname":           "topic.name, of a new one, or topic.existing", "groupid": "consume.group, of a new one",
	"consumergroup": "consume.group, of a new one", "groupname": "consume.group, of a new one",
	"topic": "topic.name, of a new one, or topic.existing", "msgtopic": "topic.name, of a new one, or topic.existing",
	"msgconsumergroupid":    "consume.group, of a new one",
	"consumerbacklogsizegb": "load.volume, with consume.hold",
	"consumeronly":          "the preset consume-only, or load.producers: 0",
	"produceronly":          "the preset produce-only, or consume.consumers: 0",

	"messagesize": "load.record.size", "msgsize": "load.record.size", "recordsize": "load.record.size",
	"seed": "load.record.seed", "payloadsize": "load.record.size", "msgsizebytes": "load.record.size",
	"valuesize": "load.record.size", "messagelength": "load.record.size", "messagebytes": "load.record.size",
	"recordbytes":      "load.record.size",
	"messagelengthmax": "load.record.size, as in {uniform: [512B, 1KiB]}",
	"payloadtype":      "load.record.payload", "payloadmode": "load.record.payload",
	"payloadfile": "load.record.payload.file", "randombytesratio": noPayload, "randomizedpayloadpoolsize": noPayload,
	"userandomizedpayloads": noPayload, "payloaddelimiter": "nothing: each line of load.record.payload.file is a record",
	"keydistributor": "load.record.keys", "keydistribution": "load.record.keys.distribution",

	"numproducers": "load.producers", "producercount": "load.producers", "producerspertopic": "load.producers",
	"senderthreads": allProducers, "senderconcurrency": allProducers,
	"sendersnumber": "load.processes", "sendernodes": "load.processes",
	"maxsendmsgbatchsize": "load.round, with rate: max", "batchsizesend": "load.round, with rate: max",
	"maxsendinflight": "load.producers, each with load.round",
	"batchsize":       "load.batch, or consume.queue.batch", "batchbytes": "load.batch", "lingerms": "load.linger",
	"requiredacks": "load.acks", "requestrequiredacks": "load.acks",
	"produceracks":    "load.acks",
	"compressiontype": "load.compression", "compressioncodec": "load.compression", "codec": "load.compression",
	"compressionlevel": "load.level",
	"idempotence":      "load.idempotent", "enableidempotence": "load.idempotent",
	"deliverytimeoutms": "load.delivery_timeout",
	"maxinflight":       "load.in_flight", "maxinflightrequestsperconnection": "load.in_flight",
	"compressiongziplevel": "load.level", "compressionlz4level": "load.level", "compressionzstdlevel": "load.level",
	"requesttimeoutms": "load.client, by the driver's names",
	"buffermemory":     "nothing: load.max_buffered counts records, and not bytes",
	"maxrequestsize":   "nothing: load.batch bounds what is sent of each partition",
	"partitioner":      "load.partitioning",
	"burstrate":        "load.arrival.peak", "burstduration": "load.arrival.length", "burstperiod": "load.arrival.period",

	"numconsumers": "consume.consumers", "consumercount": "consume.consumers",
	"consumerpersubscription": "consume.consumers",
	"receiversnumber":         "consume.consumers", "receivernodes": "consume.consumers",
	"threads":             "consume.consumers, or consume.queue.threads",
	"numthreads":          "consume.consumers, or consume.queue.threads",
	"receiverthreads":     "consume.queue.threads, of each consumer",
	"receiverconcurrency": "consume.queue.threads, of each consumer",
	"receivemsgbatchsize": "consume.queue.batch", "maxreceivemsgbatchsize": "consume.queue.batch",
	"batchsizereceive": "consume.queue.batch",
	"polltimeoutms":    "consume.poll_timeout", "frombeginning": "consume.from: start, of a topic.existing",
	"fromstart": "consume.from: start, of a topic.existing", "fromoldest": "consume.from: start, of a topic.existing",
	"fromlatest":            "consume.from: end, of a topic.existing",
	"subscriptionspertopic": "consume.groups", "consumergroups": "consume.groups",
	"initialoffset":   "consume.from, of a topic.existing",
	"autooffsetreset": "consume.from, of a topic.existing", "groupprotocol": "consume.protocol",
	"enableautocommit":     "nothing: a group commits each consume.commit; consume.assignment: manual reads without commits",
	"autocommitintervalms": "consume.commit",
	"commitinterval":       "consume.commit", "commitms": "consume.commit",
	"fetchminbytes": "consume.fetch.min_bytes", "fetchmaxbytes": "consume.fetch.max_bytes",
	"fetchmaxwaitms": "consume.fetch.max_wait", "fetchwaitmaxms": "consume.fetch.max_wait",
	"queuedminmessages":      ofLibrdkafka,
	"maxpartitionfetchbytes": "consume.fetch.max_partition_bytes", "fetchsize": "consume.fetch.max_partition_bytes",
	"partitionassignmentstrategy": "consume.assignor", "assignmentstrategy": "consume.assignor",
	"rebalancestrategy":   "consume.assignor",
	"producerconfig":      "load.client, by the driver's names, or the flag --command-config",
	"producerprops":       "load.client, by the driver's names",
	"consumerconfig":      "consume.client, by the driver's names, or the flag --command-config",
	"consumerprops":       "consume.client, by the driver's names",
	"heartbeatintervalms": "consume.session_timeout: three times as long",
	"socketbuffersize":    "consume.client, by the driver's names",
	"delay":               "consume.work.time", "consumerdelay": "consume.work.time",
	"consumerjitter": "consume.work.jitter",
	"processingtime": "consume.work", "worktime": "consume.work",
	"phasedelay": "consume.changes[0].work", "phaseduration": "consume.changes[0].at",

	"visibilitytimeout": "consume.queue.visibility", "lockduration": "consume.queue.visibility",
	"redeliverafter": "consume.queue.visibility", "msgtimeoutms": "consume.queue.visibility",
	"maxredeliverycount": "consume.queue.max_deliveries, which counts the first delivery too",
	"maxreceivecount":    "consume.queue.max_deliveries", "deliverycountlimit": "consume.queue.max_deliveries",
	"maxattempts":     "consume.queue.max_deliveries",
	"maxredeliveries": "consume.queue.max_deliveries, which counts the first delivery too",
	"msgtimeout":      "consume.queue.visibility",
	"droprate":        "consume.queue.drop.share", "dropratio": "consume.queue.drop.share",
	"deadletterqueue": "consume.queue.dead_letter: true, with a topic of its own name",
	"dlq":             "consume.queue.dead_letter: true, with a topic of its own name",
	"deadlettertopic": "consume.queue.dead_letter: true, with a topic of its own name",
	"prefetch":        "consume.queue.in_flight", "redeliverytracker": "consume.queue.tracker",

	"numpartitions": "topic.partitions", "partitionspertopic": "topic.partitions",
	"replicationfactor": "topic.replication", "replicas": "topic.replication", "topicconfig": "topic.config",
	"topicprops": "topic.config", "retentionbytes": "topic.config.retention.bytes",
	"topiccompression":  "topic.config.compression.type",
	"mininsyncreplicas": "topic.config.min.insync.replicas", "minisr": "topic.config.min.insync.replicas",
	"retentionms":     "topic.config.retention.ms",
	"maxmessagebytes": "topic.config.max.message.bytes", "maxmsgbytes": "topic.config.max.message.bytes",

	"bpmaxlag": "backpressure.max_lag", "bpresumelag": "backpressure.resume_lag", "bppoll": "backpressure.poll",
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
	"sysperfinterval": "sampling.interval", "intervallength": "sampling.interval",
	"logintervalmillis": "sampling.interval", "laginterval": "sampling.lag",
	"runs": "repeat", "iterations": "load.records", "vus": "load.producers", "repetitions": "repeat", "runsteps": "repeat",

	"bootstrapservers": "the flag --brokers", "bootstrapserver": "the flag --brokers",
	"brokers":    "cluster.brokers, how many to start, or the flag --brokers",
	"brokerlist": "the flag --brokers", "hosts": "the flag --brokers",
	"metadatabrokerlist": "the flag --brokers", "seedbrokers": "the flag --brokers",
	"commonconfig":    "the flag --brokers, or the flag --command-config",
	"commandproperty": "load.client, or consume.client, by the driver's names",
	"commandconfig":   "the flag --command-config",
	"driverclass":     "nothing: the flag --driver chooses a client of Kafka, the key is driver",
	"clientlibrary":   "driver", "library": "driver",
	"f": theScenario, "scenario": theScenario, "workload": theScenario, "configfile": theScenario, "w": theScenario,
	"p": "the flag --set, once for each key, or topic.partitions", "x": "the flag --set, once for each key",
	"s":          "the flag --set, once for each key, or load.record.size, or " + inBytes,
	"parameters": "the flag --set, once for each key",
	"g":          "consume.group, of a new one",
	"t":          "topic.name, of a new one, or topic.existing", "b": "the flag --brokers",
	"workers": "consume.consumers, or nothing: kafka-bench agent runs on each machine, and run --agents counts them",
	"drivers": "nothing: the keys of a driver file are keys of a scenario",
	"d":       "phases.measure, or nothing: the keys of a driver file are keys of a scenario",
	"o":       "the flag --out", "csv": inResult, "extra": "nothing: a run needs no other consumers",
	"runner": "nothing: a scenario says what runs",
	"create": noReset, "delete": noReset,
	"securityprotocol": inAccess, "saslmechanism": inAccess, "sasljaasconfig": inAccess,
	"ssltruststorelocation": inAccess,
	"output":                asFile, "outputfile": asFile, "histogramsdir": "the flag --out",
	"reportdir": "the flag --out",
	"sloconfig": "the flag --expect", "slo": "the flag --expect", "sle": "the flag --expect",
	"sla": "the flag --expect", "sleconfig": "the flag --expect", "slaconfig": "the flag --expect",
	"threshold": "the flag --expect", "thresholds": "the flag --expect", "expect": "the flag --expect",
	"expectation": "the flag --expect", "expectations": "the flag --expect", "assert": "the flag --expect",
	"tag": "the flag --label", "summaryexport": asFile,
	"junitfile": "the flag --junit", "junitxml": "the flag --junit", "junitoutput": "the flag --junit",
	"highbound": "kafka-bench search, which finds it", "ratepercentstep": "kafka-bench search --curve",
	"startingratepercent": "kafka-bench search --curve", "finishingratepercent": "kafka-bench search --curve",
	"targetfactor": "kafka-bench search, with --expect",

	"topics": "nothing: a run has one topic", "include": "nothing: a run has one topic",
	"reset": noReset, "resettopic": noReset, "waitafterdeletetopic": noReset, "probetopics": noReset,
	"throttlemode": "nothing: records are due by a schedule, whoever is late",
	"retriesmax":   "nothing: every run counts; repeat makes more",
	"timeout":      "nothing: a run ends by its window; a poll ends by consume.poll_timeout",
	"markertopic":  noMarkers, "redeliveryconsumergroupid": noMarkers, "redeliverygroupid": noMarkers,
	"redeliverycountheader":                      noMarkers,
	"usenowforredeliverdespitenomarkerseenforms": "nothing: what is due is sent again by the tracker's own clock",
	"mqtype": "consume.queue.engine", "mq": "consume.queue.engine", "queuetopic": "topic.name, of a new one",
	"testid":            "name",
	"backlogdrainratio": "nothing: the drain ends when all is delivered",
	"transactionalid":   noTransactions, "transactiondurationms": noTransactions,
	"startfirst": "nothing: markers always writes a start before it hands a record out", "transactions": noTransactions,
	"payloadmonotonic": "nothing: each record carries a sequence in its stamp",
	"printmetrics":     inResult, "showdetailedstats": inResult, "hideheader": inResult, "dateformat": inResult,
	"numfetchthreads": "nothing: the client fetches as it does",
	"zookeeper":       "nothing: brokers are asked, see the flag --brokers",

	// Names that several tools have in several forms.
	"total": toSendOrRead, "totalmessages": toSendOrRead, "totalrecords": toSendOrRead,
	"numberofmessages": toSendOrRead, "msgcount": toSendOrRead, "msgs": toSendOrRead, "nummsgs": toSendOrRead,
	"events":    toSendOrRead,
	"numevents": toSendOrRead, "eventcount": toSendOrRead, "nrecords": toSendOrRead, "recordcount": toSendOrRead,
	"numberofrecords": toSendOrRead, "r": "load.rate", "c": "consume.consumers",
	"concurrency": "consume.consumers, or consume.queue.threads",
	"numclients":  "load.producers", "partitioncount": "topic.partitions",
	"bootstrap": "the flag --brokers", "broker": "the flag --brokers", "kafkabrokers": "the flag --brokers",
	"server":  "the flag --brokers",
	"servers": "the flag --brokers", "host": "the flag --brokers", "kafka": "the flag --brokers",
	"metadatabrokers": "the flag --brokers",
	"offset":          "consume.from, of a topic.existing", "offsets": "nothing: kafka-bench kmq inspect shows those of a group",
	"startoffset": "consume.from, of a topic.existing", "offsetreset": "consume.from, of a topic.existing",
	"beginning": "consume.from: start, of a topic.existing",
	"bpmode":    "backpressure.controller", "bpcontroller": "backpressure.controller",
	"bpexcess":  "backpressure.excess",
	"outputdir": "the flag --out", "outdir": "the flag --out", "resultsdir": "the flag --out",
	"resultdir":  "the flag --out",
	"resultfile": asFile, "reportfile": asFile, "outfile": asFile, "log": asFile,
	"statsinterval": "sampling.interval", "metricsinterval": "sampling.interval",
	"payloadfilepath": noPayload, "keysize": noKeySize, "recordkeysize": noKeySize,
	"numheaders": noKeySize, "recordheadersize": noKeySize, "recordheaderkeysize": noKeySize, "headers": noKeySize,
	"fetchmessagemaxbytes": "consume.fetch.max_partition_bytes", "consumerfetchmaxwait": "consume.fetch.max_wait",
	"fetchmaxwait": "consume.fetch.max_wait", "maxpollrecords": noPollRecords, "maxpollintervalms": noPollRecords,
	"producerproperty": "load.client, by the driver's names",
	"consumerproperty": "consume.client, by the driver's names",
	"clientid":         "nothing: a run names its clients itself", "retries": noRetries, "retrybackoffms": noRetries,
	"replicaassignment":         "nothing: the brokers place the replicas",
	"queuedmaxmessageskbytes":   ofLibrdkafka,
	"queuebufferingmaxmessages": "load.max_buffered", "queuebufferingmaxms": "load.linger",
	"batchnummessages": "nothing: librdkafka's own bound of a batch in records; load.batch is one in bytes",
	"serializer":       inBytes, "keyserializer": inBytes, "valueserializer": inBytes, "keydeserializer": inBytes,
	"valuedeserializer": inBytes,
	"formatter":         inBytes, "property": inBytes, "messagehandler": inBytes, "keydelimiter": inBytes,

	// Switches and options of Kafka's tools for topics and groups.
	"describe": noAdmin, "list": noAdmin, "alter": noAdmin, "ifexists": noAdmin, "ifnotexists": noAdmin,
	"excludeinternal":           noAdmin,
	"underreplicatedpartitions": noAdmin, "topicswithoverrides": noAdmin, "deleteconfig": noAdmin,
	"atminisrpartitions": noAdmin,
	"force":              noAdmin, "resetoffsets": noOffsets, "execute": noOffsets, "toearliest": noOffsets, "tolatest": noOffsets,
	"tooffset": noOffsets, "todatetime": noOffsets, "tocurrent": noOffsets, "byduration": noOffsets,
	"shiftby":  noOffsets,
	"fromfile": noOffsets, "export": noOffsets, "deleteoffsets": noOffsets, "allgroups": noAdmin, "alltopics": noAdmin,
	"members": noAdmin, "state": noAdmin, "verbose": inResult, "debug": inResult, "v": inResult, "q": "the flag --quiet",
	"json":         inResult,
	"onepartition": "nothing: a run uses all partitions of its topic",
	"untilend":     "nothing: a run reads until its topic ends",
	"exiteof":      "nothing: reading ends at the end of the topic", "unbuffered": inResult,
	"metadata": noAdmin,
	"limit":    noMachines, "inventory": noMachines, "playbook": noMachines, "tags": noMachines, "forks": noMachines,
	"become":      noMachines,
	"workersfile": "nothing: kafka-bench agent runs on each machine, and run --agents counts them",
	"wf":          "nothing: kafka-bench agent runs on each machine, and run --agents counts them",
	"testname":    "name", "mode": theJob, "role": theJob, "operation": theJob,
	"port": noPort, "statsport": noPort, "jmxexporterport": noPort, "entitytype": noAdmin, "entityname": noAdmin,
	"addconfig":   noAdmin,
	"connections": "load.producers", "jar": noJava, "cp": noJava, "classpath": noJava, "rm": noJava, "it": noJava,
	"network": noJava, "env": noJava,
	"redeliverymaxcount":                 "consume.queue.max_deliveries, which counts the first delivery too",
	"redeliveryconsumeroffsettopicgroup": noMarkers, "redeliveryconsumergroup": noMarkers, "markerstopic": noMarkers,
	"markergroupid": noMarkers, "redeliverytimeout": "consume.queue.visibility",
	"messagetimeout": "consume.queue.visibility",
}

// allProducers is the total of a run, where others have threads of each node.
const allProducers = "load.producers, of all nodes together"

const toSendOrRead = "load.records, or topic.fill_records, of a topic to read"

const (
	asFile = "the flag --out, a folder for runs; kafka-bench report RUN --format json prints one"
	theJob = "the command, as in run produce-only"
)

const theScenario = "the SCENARIO, an argument"

// Reasons why a word has no meaning here.
const (
	noPayload      = "nothing: payloads are generated, see load.record.payload"
	inAccess       = "nothing: it stands in the file of the flag --command-config"
	noReset        = "nothing: every run has a topic of its own, and an existing one is never emptied"
	noMarkers      = "nothing: a queue names its own topics and groups itself"
	noTransactions = "nothing: producers send without transactions"
	noKeySize      = "nothing: load.record has the size of the value; headers are the run's own"
	noPollRecords  = "nothing: a consumer takes what a fetch brings"
	noRetries      = "nothing: the client repeats until load.delivery_timeout"
	inBytes        = "nothing: records are bytes"
	ofLibrdkafka   = "nothing: librdkafka's own prefetch; consume.fetch has the fetches of every driver"
	noAdmin        = "nothing: kafka-bench administers no topics and groups of yours"
	noOffsets      = "nothing: kafka-bench moves no offsets of a group"
	noMachines     = "nothing: machines are set up by you; kafka-bench agent runs on each, and run --agents counts them"
	noPort         = "nothing: serve has --listen, and run has --metrics and --web"
	noJava         = "nothing: kafka-bench is one program, without a virtual machine or container"
	inResult       = "nothing: the result has everything, and kafka-bench report prints it"
)

// valueSynonyms are by key, then by another tool's value in lower case. At these keys upper case is accepted.
var valueSynonyms = map[string]map[string]string{
	"driver": {
		"franz-go": "franz", "kgo": "franz", "kafka-go": "segmentio", "confluent": "librdkafka", "rdkafka": "librdkafka",
		"confluent-kafka-go": "librdkafka",
	},
	"load.acks":           {"-1": "all", "leader": "1", "none": "0"},
	"load.compression":    {"uncompressed": "none", "off": "none"},
	"load.record.payload": {},
	"consume.queue.acks":  {"-1": "all", "1": "leader"},
	"consume.from": {
		"earliest": "start", "oldest": "start", "beginning": "start", "stored": "start", "smallest": "start", "latest": "end", "newest": "end", "largest": "end",
	},
	"consume.protocol": {},
	"consume.assignor": {
		"rangeassignor": "range", "roundrobinassignor": "roundrobin", "stickyassignor": "sticky",
		"cooperativestickyassignor": "cooperative-sticky",
	},
	"consume.queue":    {"kmq": "markers", "kafkakmq": "markers", "kafka": "plain"},
	"load.record.keys": {"no_key": "none", "key_round_robin": "sequential", "random_nano": "uniform"},
	"backpressure":     {"none": "off", "true": "hysteresis", "on": "hysteresis", "false": "off"},
}

// canonicalWord returns the value here for another tool's value; other values are returned unchanged. Of a Java class
// only the last part counts.
func canonicalWord(path, value string) string {
	for _, key := range []string{".engine", ".distribution", ".controller"} { // of mappings with a short form
		path = strings.TrimSuffix(path, key)
	}
	ours, there := valueSynonyms[path]
	if !there {
		return value
	}
	word := strings.ToLower(value)
	if same := ours[word[strings.LastIndex(word, ".")+1:]]; same != "" {
		return same
	}
	return word
}

// presetOfWord has the preset that is nearest to a tool which alone has the word.
var presetOfWord = map[string]string{
	"targetrate": "e2e", "messagelength": "e2e", "runner": "e2e", "waitafterdeletetopic": "e2e",
	"startingwarmuptime": "e2e", "throughput": "produce-only",
	"highbound": "e2e", "startingratepercent": "e2e", "consumerbacklogsizegb": "backlog",
}

// Meaning explains a word that is not a flag: a key, another flag, a command, or why there is none;
// "" for an unknown word.
func Meaning(word string) string {
	meaning := meantBy(word, nil)
	if meaning == "" {
		meaning = meantBy(canonicalName(word), nil)
	}
	if first, _, _ := strings.Cut(word, "."); meaning == "" && clientProperty.MatchString(word) &&
		!slices.Contains(keysOf(reflect.TypeFor[document]()), first) {
		meaning = "nothing: no key has it; load.client and consume.client take settings by the driver's own names"
	}
	return strings.TrimSuffix(meaning, "; ")
}

// clientProperty is the name of a setting of Kafka's clients, such as metadata.max.age.ms.
var clientProperty = regexp.MustCompile(`^[a-z]+(\.[a-z0-9]+)+$`)

// Nearest returns the word that a mistyped one of another tool, or of a scenario, is nearest to; "" if none is near.
func Nearest(word string) string {
	words := keysOf(reflect.TypeFor[document]())
	for _, t := range []reflect.Type{reflect.TypeFor[Load](), reflect.TypeFor[Consume](), reflect.TypeFor[Topic](), reflect.TypeFor[Phases](), reflect.TypeFor[Backpressure]()} {
		words = append(words, keysOf(t)...)
	}
	return spelling.Nearest(plainWord(word), append(slices.Sorted(maps.Keys(synonyms)), words...))
}

// alternatives returns what an option may be, the likeliest first.
func alternatives(word string) []string {
	if ours := synonym(word); ours != "" {
		return strings.Split(ours, ", or ")
	}
	for _, name := range []string{word, canonicalName(word)} {
		if at := elsewhere(name); len(at) > 0 {
			return at
		}
	}
	return []string{word} // maybe a whole path
}

func synonym(word string) string { return synonyms[canonicalName(word)] }

// namespaces are what options are nested in, in files and in names such as producerConf.acks.
var namespaces = regexp.MustCompile(`(?i)^(?:producer|consumer|topic|common|driver|workload|clients?|kafka|bench(?:mark)?|kmq|mq|mqperf|app|test)?` +
	`(?:conf|config|props?|properties|settings|redelivery)?\.`)

// canonicalName returns an option's name as the tables have it: in lower case, without separators and, if only the rest
// is known, without the names that it is nested in and without a unit.
func canonicalName(name string) string {
	for rest := name; ; {
		word := plainWord(rest)
		if isKnown(word) || len(elsewhere(word)) > 0 {
			return word
		}
		for _, u := range nameUnits {
			if stem, is := strings.CutSuffix(word, u.end); is && (isKnown(stem) || len(elsewhere(stem)) > 0) {
				return stem
			}
		}
		nested := namespaces.FindString(rest)
		if nested == "" {
			return plainWord(name)
		}
		rest = strings.TrimPrefix(rest, nested)
	}
}

func isKnown(word string) bool { return synonyms[word] != "" }

func plainWord(word string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(word))
}
