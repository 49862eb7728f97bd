package scenario

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

// meanings are what words of other tools and of Kafka's settings are here: a key, flag, preset or command, or why there
// is none. The words are in lower case, without separators. docs/COMING_FROM.md has them by tool. Alternatives are
// separated by ", or ", and a remark follows ", ". "KEY: VALUE" is the key with that value, whatever the word's value is.
var meanings = map[string]string{
	"load.rate": `throughput targetthroughput targetrate producerrate rps qps tps messagerate msgrate recordrate
		messagespersecond recordspersecond r`,
	"phases.measure":                       "duration durations testlengthseconds testduration testdurationminutes runtime",
	"phases.warmup":                        "warmuptime warmupduration warmupdurationminutes warmups",
	"phases.warmup: a time":                "warmuprecords",
	"cluster.warmup":                       "startingwarmuptime initialwarmuptime",
	"load.rate, of all producers together": "msgspersecond msgsperprocessinsecond",
	"load.records_each":                    "msgcountperthread recordsperproducer messagesperproducer",
	"load.records, or topic.fill_records, of a topic to read": `numrecords nummessages messages n maxmessages
		messagecount total totalmessages totalrecords numberofmessages msgcount msgs nummsgs events numevents iterations
		eventcount nrecords recordcount numberofrecords`,
	"cluster.brokers, or consume.consumers, with a queue, and load.processes": "nodes",
	"topic.replication":                                "rf replicationfactor replicas",
	"topic.name, of a new one, or topic.existing":      "topicname topic msgtopic t",
	"consume.group, of a new one":                      "groupid consumergroup groupname msgconsumergroupid g",
	"load.volume, with consume.hold":                   "consumerbacklogsizegb",
	"the preset consume-only, or load.producers: 0":    "consumeronly",
	"the preset produce-only, or consume.consumers: 0": "produceronly",
	"load.record.size": `messagesize msgsize recordsize payloadsize msgsizebytes valuesize messagelength messagebytes
		recordbytes mlen`,
	"load.record.seed": "seed",
	"load.record.size, as in {uniform: [512B, 1KiB]}": "messagelengthmax",
	"load.record.payload":                             "payloadtype payloadmode",
	"load.record.payload.file":                        "payloadfile",
	"nothing: payloads are generated, see load.record.payload": `randombytesratio randomizedpayloadpoolsize
		userandomizedpayloads payloadfilepath`,
	"nothing: each line of load.record.payload.file is a record": "payloaddelimiter",
	"load.record.keys":                     "keydistributor",
	"load.record.keys.distribution":        "keydistribution",
	"load.producers":                       "numproducers producercount producerspertopic numclients connections vus",
	allProducers:                           "senderthreads senderconcurrency",
	"load.processes":                       "sendersnumber sendernodes numprocesses",
	"load.round, with rate: max":           "maxsendmsgbatchsize batchsizesend",
	"load.producers, each with load.round": "maxsendinflight",
	"load.batch, or consume.queue.batch":   "batchsize",
	"load.batch":                           "batchbytes",
	"load.linger":                          "lingerms queuebufferingmaxms",
	"load.acks":                            "requiredacks requestrequiredacks produceracks",
	"load.compression":                     "compressiontype compressioncodec codec",
	"load.level":                           "compressionlevel compressiongziplevel compressionlz4level compressionzstdlevel",
	"load.idempotent":                      "idempotence enableidempotence",
	"load.delivery_timeout":                "deliverytimeoutms",
	"load.in_flight":                       "maxinflight maxinflightrequestsperconnection",
	"load.client, by the driver's names":   "requesttimeoutms producerprops producerproperty",
	"nothing: load.max_buffered counts records, and not bytes":  "buffermemory",
	"nothing: load.batch bounds what is sent of each partition": "maxrequestsize",
	"load.partitioning":                           "partitioner",
	"load.arrival.peak":                           "burstrate",
	"load.arrival.length":                         "burstduration",
	"load.arrival.period":                         "burstperiod",
	"consume.consumers":                           "numconsumers consumercount consumerpersubscription receiversnumber receivernodes c",
	"consume.consumers, or consume.queue.threads": "threads numthreads concurrency",
	"consume.queue.threads, of each consumer":     "receiverthreads receiverconcurrency consumerthreads",
	"consume.queue.batch":                         "receivemsgbatchsize maxreceivemsgbatchsize batchsizereceive",
	"consume.poll_timeout":                        "polltimeoutms",
	"consume.from: start, of a topic.existing":    "frombeginning fromstart fromoldest beginning",
	"consume.from: end, of a topic.existing":      "fromlatest",
	"consume.groups":                              "subscriptionspertopic consumergroups",
	"consume.from, of a topic.existing":           "initialoffset autooffsetreset offset startoffset offsetreset",
	"consume.protocol":                            "groupprotocol",
	"nothing: a group commits each consume.commit; consume.assignment: manual reads without commits": `
		enableautocommit`,
	"consume.commit":          "autocommitintervalms commitinterval commitms",
	"consume.fetch.min_bytes": "fetchminbytes",
	"consume.fetch.max_bytes": "fetchmaxbytes",
	"consume.fetch.max_wait":  "fetchmaxwaitms fetchwaitmaxms consumerfetchmaxwait fetchmaxwait",
	"nothing: librdkafka's own prefetch; consume.fetch has the fetches of every driver": `queuedminmessages
		queuedmaxmessageskbytes`,
	"consume.fetch.max_partition_bytes": "maxpartitionfetchbytes fetchsize fetchmessagemaxbytes",
	"consume.assignor":                  "partitionassignmentstrategy assignmentstrategy rebalancestrategy",
	"load.client, by the driver's names, or the flag --command-config":    "producerconfig",
	"consume.client, by the driver's names, or the flag --command-config": "consumerconfig",
	"consume.client, by the driver's names":                               "consumerprops socketbuffersize consumerproperty",
	"consume.session_timeout: three times as long":                        "heartbeatintervalms",
	"consume.work.time":       "delay consumerdelay",
	"consume.work.jitter":     "consumerjitter",
	"consume.work":            "processingtime worktime",
	"consume.changes[0].work": "phasedelay",
	"consume.changes[0].at":   "phaseduration",
	"consume.queue.visibility": `visibilitytimeout lockduration redeliverafter msgtimeoutms msgtimeout
		redeliverytimeout messagetimeout`,
	"consume.queue.max_deliveries, which counts the first delivery too": `maxredeliverycount maxredeliveries
		redeliverymaxcount`,
	"consume.queue.max_deliveries":                                  "maxreceivecount deliverycountlimit maxattempts",
	"consume.queue.drop.share":                                      "droprate dropratio",
	"consume.queue.dead_letter: true, with a topic of its own name": "deadletterqueue dlq deadlettertopic",
	"consume.queue.in_flight":                                       "prefetch",
	"consume.queue.tracker":                                         "redeliverytracker",
	"topic.partitions":                                              "numpartitions partitionspertopic partitioncount",
	"topic.config":                                                  "topicconfig topicprops",
	"topic.config.retention.bytes":                                  "retentionbytes",
	"topic.config.compression.type":                                 "topiccompression",
	"topic.config.min.insync.replicas":                              "mininsyncreplicas minisr",
	"topic.config.retention.ms":                                     "retentionms",
	"topic.config.max.message.bytes":                                "maxmessagebytes maxmsgbytes",
	"backpressure.max_lag":                                          "bpmaxlag maxlagrecords lagthreshold",
	"backpressure.resume_lag":                                       "bpresumelag",
	"backpressure.poll":                                             "bppoll pollinterval",
	"backpressure.max_lag, with controller: credit":                 "credits",
	"backpressure.controller":                                       "algorithm bpmode bpcontroller",
	"topic.fill":                                                    "prefill preload backlogsize",
	"consume.cpu":                                                   "cpus cpulimit cores gomaxprocs",
	"consume.memory":                                                "memorylimit memlimit gomemlimit",
	"quick":                                                         "short smoke",
	"cluster.metrics":                                               "jmx jmxport",
	"faults, with pause":                                            "sigstop",
	"faults, with kill":                                             "sigkill",
	"faults":                                                        "faultinjection failures chaos",
	"consume.session_timeout":                                       "sessiontimeoutms",
	"variants":                                                      "cases configurations",
	"sampling.interval": `reportinterval reportinginterval sysperfinterval intervallength logintervalmillis
		statsinterval metricsinterval`,
	"sampling.lag": "laginterval",
	"repeat":       "runs repetitions runsteps",
	"the flag --brokers": `bootstrapservers bootstrapserver brokerlist hosts metadatabrokerlist seedbrokers b
		bootstrap broker kafkabrokers server servers host kafka metadatabrokers`,
	"cluster.brokers, how many to start, or the flag --brokers":               "brokers",
	"the flag --brokers, or the flag --command-config":                        "commonconfig",
	"load.client, or consume.client, by the driver's names":                   "commandproperty",
	"the flag --command-config":                                               "commandconfig",
	"nothing: the flag --driver chooses a client of Kafka, the key is driver": "driverclass",
	"driver":    "clientlibrary library",
	theScenario: "f scenario workload configfile w",
	"the flag --set, once for each key, or topic.partitions":                                              "p",
	"the flag --set, once for each key":                                                                   "x parameters",
	"the flag --set, once for each key, or load.record.size, or " + inBytes:                               "s",
	"consume.consumers, or nothing: kafka-bench agent runs on each machine, and run --agents counts them": "workers",
	"nothing: the keys of a driver file are keys of a scenario":                                           "drivers",
	"phases.measure, or nothing: the keys of a driver file are keys of a scenario":                        "d",
	"the flag --out": "o histogramsdir reportdir outputdir outdir resultsdir resultdir",
	"nothing: the result has everything, and kafka-bench report prints it": `csv makereport printmetrics
		showdetailedstats hideheader dateformat verbose debug v json unbuffered`,
	"nothing: a run needs no other consumers": "extra",
	"nothing: a scenario says what runs":      "runner",
	"nothing: every run has a topic of its own, and an existing one is never emptied": `create delete reset
		resettopic waitafterdeletetopic probetopics`,
	"nothing: it stands in the file of the flag --command-config": `securityprotocol saslmechanism sasljaasconfig
		ssltruststorelocation`,
	"the flag --out, a folder for runs; kafka-bench report RUN --format json prints one": `output outputfile
		resultfile reportfile outfile log summaryexport`,
	"the flag --expect": `sloconfig slo sle sla sleconfig slaconfig threshold thresholds expect expectation expectations
		assert`,
	"the flag --label":                                                       "tag",
	"the flag --junit":                                                       "junitfile junitxml junitoutput",
	"the flag --quiet":                                                       "q",
	"kafka-bench search, which finds it":                                     "highbound highboundonly initialtargetrate",
	"kafka-bench search --curve":                                             "ratepercentstep ratesteppercent startingratepercent finishingratepercent",
	"kafka-bench search, with --expect":                                      "targetfactor",
	"nothing: a run has one topic":                                           "topics include",
	"nothing: records are due by a schedule, whoever is late":                "throttlemode",
	"nothing: every run counts; repeat makes more":                           "retriesmax",
	"nothing: a run ends by its window; a poll ends by consume.poll_timeout": "timeout",
	"nothing: a queue names its own topics and groups itself": `markertopic redeliveryconsumergroupid
		redeliverygroupid redeliverycountheader redeliveryconsumeroffsettopicgroup redeliveryconsumergroup
		markerstopic markergroupid`,
	"nothing: what is due is sent again by the tracker's own clock": "usenowforredeliverdespitenomarkerseenforms",
	"consume.queue.engine":     "mqtype mq",
	"topic.name, of a new one": "queuetopic",
	"name":                     "testid",
	"nothing: producers send without transactions":            "transactionalid transactiondurationms transactions",
	"nothing: each record carries a sequence in its stamp":    "payloadmonotonic",
	"nothing: brokers are asked, see the flag --brokers":      "zookeeper",
	"nothing: kafka-bench kmq inspect shows those of a group": "offsets",
	"nothing: load.record has the size of the value; headers are the run's own": `keysize recordkeysize numheaders
		recordheadersize recordheaderkeysize headers`,
	"nothing: a consumer takes what a fetch brings":                                     "maxpollrecords maxpollintervalms numfetchthreads",
	"the flag --client-id":                                                              "clientid",
	"nothing: the client repeats until load.delivery_timeout":                           "retries retrybackoffms",
	"nothing: the brokers place the replicas":                                           "replicaassignment",
	"load.max_buffered":                                                                 "queuebufferingmaxmessages",
	"nothing: librdkafka's own bound of a batch in records; load.batch is one in bytes": "batchnummessages",
	inBytes: `serializer keyserializer valueserializer keydeserializer valuedeserializer formatter property
		messagehandler keydelimiter`,
	"nothing: kafka-bench administers no topics and groups of yours": `describe list alter ifexists ifnotexists
		excludeinternal underreplicatedpartitions topicswithoverrides deleteconfig atminisrpartitions force allgroups
		alltopics members state metadata entitytype entityname addconfig`,
	"nothing: kafka-bench moves no offsets of a group": `resetoffsets execute toearliest tolatest tooffset todatetime
		tocurrent byduration shiftby fromfile export deleteoffsets`,
	"nothing: a run uses all partitions of its topic": "onepartition",
	"nothing: a run ends when all is delivered":       "untilend exiteof backlogdrainratio",
	"nothing: machines are set up by you; kafka-bench agent runs on each, and run --agents counts them": `limit
		inventory playbook tags forks become workersfile wf`,
	"nothing: no server is asked to run":                           "xpost",
	theScenario + ", or name":                                      "testname",
	"the command, as in run produce-only":                          "mode role operation",
	"nothing: serve has --listen, and run has --metrics and --web": "port statsport jmxexporterport",
	"nothing: kafka-bench is one program, without a virtual machine or container": `jar cp classpath rm it network
		env`,
}

// synonyms has the meaning of each word.
var synonyms = func() map[string]string {
	byWord := make(map[string]string)
	for meaning, words := range meanings {
		for word := range strings.FieldsSeq(words) {
			byWord[word] = meaning
		}
	}
	return byWord
}()

const allProducers = "load.producers, of all nodes together"

const theScenario = "the SCENARIO, an argument"

// Reasons why a word has no meaning here.
const (
	inBytes = "nothing: records are bytes"
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
