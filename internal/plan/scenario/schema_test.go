package scenario

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const schemaFile = "../../../schema/scenario.schema.json"

func TestSchemaIsThePublishedOne(t *testing.T) {
	got := publishedSchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not describe the types any more; run the test with -update", schemaFile)
	}
}

const (
	rateSchema     = "rate"
	sizeSchema     = "size"
	durationSchema = "duration"
	batchSchema    = "batch"
	commitSchema   = "commit"
	holdSchema     = "hold"
	recordSchema   = "record_size"
	targetSchema   = "target"
	shareSchema    = "share"
	settingSchema  = "setting"
	textSchema     = "text"
	openSchema     = "variable_or_null"
)

var textSchemas = map[reflect.Type]string{
	reflect.TypeFor[unit.Rate]():     rateSchema,
	reflect.TypeFor[unit.Size]():     sizeSchema,
	reflect.TypeFor[unit.Duration](): durationSchema,
	reflect.TypeFor[Batch]():         batchSchema,
	reflect.TypeFor[Commit]():        commitSchema,
	reflect.TypeFor[Hold]():          holdSchema,
	reflect.TypeFor[Size]():          recordSchema,
	reflect.TypeFor[Target]():        targetSchema,
	reflect.TypeFor[unit.Share]():    shareSchema,
}

const (
	durationPattern = `[-+]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+`
	sizePattern     = `[0-9]+(\.[0-9]+)?(B|kB|KiB|MB|MiB|GB|GiB|TB|TiB)`
	ratePattern     = `[0-9]+(\.[0-9]+)?[kM]?/(s|min|h|` + durationPattern + `)`
	variablePattern = `\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}`
)

func pattern(text, description string, examples ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Description: description, Examples: examples, AnyOf: []*jsonschema.Schema{
		{Type: "string", Pattern: "^(" + text + ")$"}, {Const: 0},
	}}
}

func definition(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

func textDefinitions() jsonschema.Definitions {
	sizes := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "array", Items: definition(sizeSchema)} }
	long := jsonschema.NewProperties()
	for _, key := range keysOf(reflect.TypeFor[sizeMapping]()) {
		long.Set(key, sizes())
	}
	one := uint64(1)
	return jsonschema.Definitions{
		rateSchema:     pattern("max|"+ratePattern, "records per time; max is as fast as possible", "10k/s", "2.5k/s", "100/min", "max"),
		shareSchema:    pattern(`[0-9]+(\.[0-9]+)?%`, "a part of a whole, in per cent", "50%", "0.1%"),
		sizeSchema:     pattern(sizePattern, "bytes: kB is 1,000 and KiB is 1,024", "512B", "64kB", "64KiB"),
		durationSchema: pattern(durationPattern, "a time with its unit", "5ms", "2s", "1m30s"),
		batchSchema:    {Description: "a size, or one record", AnyOf: []*jsonschema.Schema{{Const: oneRecord}, definition(sizeSchema)}},
		commitSchema: {Description: "an interval, or after each batch", AnyOf: []*jsonschema.Schema{
			{Const: "batch"}, definition(durationSchema)}},
		holdSchema: {Description: "until a time of the measured window, or until the drain", AnyOf: []*jsonschema.Schema{
			{Enum: []any{"drain", "off"}}, definition(durationSchema)}},
		recordSchema: {Description: "one size, or the smallest and the largest, or a mean and a standard deviation, or equally likely sizes",
			OneOf: []*jsonschema.Schema{definition(sizeSchema), {
				Type: "object", Properties: long, AdditionalProperties: jsonschema.FalseSchema, MinProperties: &one, MaxProperties: &one,
			}}},
		targetSchema: {Description: "a consumer of the group by its number from 0, a broker by its ID from 1 or as the leader of a partition, or every broker", Type: "string",
			Pattern: "^((consumer|broker|leader of partition) [0-9]+|every broker)$", Examples: []any{"consumer 0", "broker 1", "leader of partition 0", "every broker"}},
		settingSchema: {Description: "a setting as in Kafka's own files", AnyOf: []*jsonschema.Schema{
			{Type: "string"}, {Type: "number"}, {Type: "boolean"}, {Type: "null"}}},
		textSchema: {AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}}},
		openSchema: {Description: "an environment variable, or null for the default", AnyOf: []*jsonschema.Schema{
			{Type: "string", Pattern: variablePattern}, {Type: "null"}}},
	}
}

var schemaWords = map[string][]string{
	"document.order": {Interleaved, Blocked}, "document.answer": answers, "Cluster.metrics": brokerMetrics,
	"Cluster.version": kafkaVersions, "Arrival.process": processes, "Load.pacer": pacers,
	"Load.partitioning": partitionings, "Load.acks": ackLevels, "Load.compression": codecs,
	"Payload.format": payload.Formats, "Record.stamp": stamps, "Keys.distribution": keyings, "Consume.parallel": parallels,
	"Consume.protocol": protocols, "Consume.assignment": assignments, "Consume.assignor": assignors, "Consume.from": beginnings,
	"Work.distribution": workings, "Backpressure.controller": controllers, "Backpressure.excess": excesses,
	"Queue.engine": engines, "Queue.order": orders, "Queue.tracker": trackers, "Queue.acks": queueAcks, "Drop.how": drops,
	"Backpressure.signal": signals, "Backpressure.blind": blindnesses,
}

// The driver is one of a list of the command line.
var freeTextFields = []string{"document.name", "document.description", "document.question", "document.by", "document.driver", "Topic.existing",
	"Topic.name", "Consume.group", "Payload.file", "Payload.sha256"}

var schemaBounds = map[string]struct {
	least int64
	most  uint64
}{
	"document.repeat": {1, maxRepeat}, "document.agents": {0, maxAgents}, "document.seed": {0, math.MaxUint64}, "Record.seed": {0, math.MaxUint64},
	"Cluster.brokers": {1, maxBrokers}, "Topic.partitions": {1, maxPartitions}, "Topic.replication": {1, maxBrokers},
	"Load.producers": {0, maxWorkers}, "Load.clients": {0, maxWorkers}, "Load.level": {0, 22},
	"Load.in_flight": {1, 1000}, "Load.max_buffered": {1, maxBuffered}, "Keys.count": {1, maxBuffered}, "Keys.skew": {1, 100},
	"Consume.consumers": {0, maxWorkers}, "Consume.groups": {1, maxGroups}, "Consume.processes": {1, maxProcesses}, "Consume.cpu": {0, maxCores},
	"Load.records": {0, uint64(maxRecords)}, "Load.records_each": {0, uint64(maxRecords)}, "Load.round": {0, maxBuffered},
	"Topic.fill_records": {0, uint64(maxRecords)}, "Topic.fill_records_each": {0, uint64(maxRecords)},
	"Topic.fill_producers": {0, maxWorkers},
	"Load.processes":       {1, maxProcesses}, "Backpressure.keep": {1, maxKeep},
	"Backpressure.max_lag": {0, uint64(maxRecords)}, "Backpressure.resume_lag": {1, uint64(maxRecords)},
	"Queue.threads": {1, maxThreads}, "Queue.batch": {1, maxReceive}, "Queue.max_deliveries": {0, maxDeliveries},
	"Queue.in_flight": {1, maxLent}, "Work.sigma": {0, maxSigma},
	"Backpressure.max_deferred": {1, uint64(maxRecords)},
}

// Their schemas combine all others.
var madeByHand = []reflect.Type{reflect.TypeFor[matrix](), reflect.TypeFor[variants](), reflect.TypeFor[quick]()}

func publishedSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if name, ok := textSchemas[t]; ok {
				return definition(name)
			}
			if slices.Contains(madeByHand, t) {
				return &jsonschema.Schema{}
			}
			return nil
		},
	}
	if err := r.AddGoComments(reflect.TypeFor[Scenario]().PkgPath(), ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	s := r.Reflect(document{})
	s.ID = "urn:kafka-bench:scenario.schema"
	s.Title = "a scenario of Kafka Bench"
	for name, text := range textDefinitions() {
		s.Definitions[name] = text
	}
	m := schemaMaker{t: t, root: s, done: make(map[reflect.Type]bool)}
	m.refine(s, reflect.TypeFor[document]())
	m.matrix(varied(reflect.TypeFor[document](), "", "#/properties/"))
	m.variants(reflect.TypeFor[document]())
	m.quick(reflect.TypeFor[document]())
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

type schemaMaker struct {
	t    *testing.T
	root *jsonschema.Schema
	done map[reflect.Type]bool
}

func (m schemaMaker) refine(s *jsonschema.Schema, of reflect.Type) {
	m.t.Helper()
	if m.done[of] {
		return
	}
	m.done[of] = true
	for _, f := range fieldsOf(of) {
		property, ok := s.Properties.Get(f.key)
		if !ok {
			m.t.Fatalf("the schema has no %s.%s", of.Name(), f.key)
		}
		s.Properties.Set(f.key, &jsonschema.Schema{
			Description: property.Description,
			AnyOf:       []*jsonschema.Schema{m.value(*property, of.FieldByIndex(f.index).Type, of.Name()+"."+f.key), definition(openSchema)},
		})
	}
}

func (m schemaMaker) value(s jsonschema.Schema, of reflect.Type, name string) *jsonschema.Schema {
	m.t.Helper()
	s.Description = ""
	words, worded := schemaWords[name]
	_, written := textSchemas[of]
	switch {
	case worded:
		return &jsonschema.Schema{Enum: enum(words)}
	case written || slices.Contains(madeByHand, of) || of.Kind() == reflect.Bool:
	case of.Kind() == reflect.Map:
		s.AdditionalProperties = definition(settingSchema)
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
		m.refine(m.root.Definitions[of.Elem().Name()], of.Elem())
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.String:
		s.Items = definition(textSchema)
	case of.Kind() == reflect.Struct:
		m.refine(m.root.Definitions[of.Name()], of)
		if short := shortSchema(of); short != nil {
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{short, &s}}
		}
	case of.Kind() == reflect.String:
		if !slices.Contains(freeTextFields, name) {
			m.t.Errorf("%s is neither among schemaWords nor among freeTextFields", name)
		}
		return definition(textSchema)
	default:
		m.bound(&s, name)
	}
	return &s
}

func (m schemaMaker) bound(s *jsonschema.Schema, name string) {
	bounds, ok := schemaBounds[name]
	if !ok {
		m.t.Errorf("%s is not among schemaBounds", name)
	}
	s.Minimum = json.Number(strconv.FormatInt(bounds.least, 10))
	s.Maximum = json.Number(strconv.FormatUint(bounds.most, 10))
}

// enum returns the words, and each word that is a number also as a number.
func enum(words []string) (list []any) {
	for _, word := range words {
		list = append(list, word)
		if _, err := strconv.ParseFloat(word, 64); err == nil {
			list = append(list, json.Number(word))
		}
	}
	return list
}

// shortSchema returns nil if there is no scalar form.
func shortSchema(of reflect.Type) *jsonschema.Schema {
	switch of {
	case reflect.TypeFor[Payload]():
		return &jsonschema.Schema{Enum: enum(payloads)}
	case reflect.TypeFor[Arrival]():
		return &jsonschema.Schema{Enum: enum(processes)}
	case reflect.TypeFor[Keys]():
		return &jsonschema.Schema{Enum: enum(keyings)}
	case reflect.TypeFor[Work]():
		return definition(durationSchema)
	case reflect.TypeFor[Queue]():
		return &jsonschema.Schema{Enum: enum(engines)}
	case reflect.TypeFor[Backpressure]():
		return &jsonschema.Schema{Const: "off"}
	}
	return nil
}

type axisSchema struct {
	path  string // a pattern for Kafka's settings
	any   bool
	value *jsonschema.Schema
}

func varied(of reflect.Type, path, pointer string) (axes []axisSchema) {
	for _, f := range fieldsOf(of) {
		if path == "" && slices.Contains(notVaried, f.key) {
			continue
		}
		at, inner := join(path, f.key), of.FieldByIndex(f.index).Type
		axes = append(axes, axisSchema{path: at, value: &jsonschema.Schema{Ref: pointer + f.key}})
		_, written := textSchemas[inner]
		switch {
		case written:
		case inner.Kind() == reflect.Struct:
			axes = append(axes, varied(inner, at, "#/$defs/"+inner.Name()+"/properties/")...)
		case inner.Kind() == reflect.Map:
			axes = append(axes, axisSchema{"^" + regexp.QuoteMeta(at) + `\..`, true, definition(settingSchema)})
		}
	}
	return axes
}

func (m schemaMaker) matrix(axes []axisSchema) {
	one := uint64(1)
	all, excluded := mappingSchema(), mappingSchema()
	excluded.MinProperties = &one
	for _, a := range axes {
		values := orNull(&jsonschema.Schema{Type: "array", MinItems: &one, UniqueItems: true, Items: a.value})
		if a.any {
			all.PatternProperties[a.path], excluded.PatternProperties[a.path] = values, a.value
			continue
		}
		all.Properties.Set(a.path, values)
		excluded.Properties.Set(a.path, a.value)
	}
	excluded.Properties.Set(VariantAxis, definition(textSchema))
	all.Properties.Set("exclude", orNull(&jsonschema.Schema{
		Description: "the combinations that are not run", Type: "array", Items: excluded,
	}))
	property, _ := m.root.Properties.Get("matrix")
	property.AnyOf[0] = all
}

func (m schemaMaker) variants(of reflect.Type) {
	one := uint64(1)
	part := mappingSchema()
	part.Required = []string{"name"}
	for _, key := range keysOf(of) {
		if !slices.Contains(ofAllVariants, key) {
			part.Properties.Set(key, &jsonschema.Schema{Ref: "#/properties/" + key})
		}
	}
	part.Properties.Set(againstKey, &jsonschema.Schema{
		Description: "the variant to compare this one with: reports print the ratio of the two",
		AnyOf:       []*jsonschema.Schema{definition(textSchema)},
	})
	property, _ := m.root.Properties.Get(variantsKey)
	property.AnyOf[0] = &jsonschema.Schema{Type: "array", MinItems: &one, UniqueItems: true,
		Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{part, definition(textSchema)}}}
}

func (m schemaMaker) quick(of reflect.Type) {
	part := mappingSchema()
	for _, key := range keysOf(of) {
		if !slices.Contains(ofBothForms, key) {
			part.Properties.Set(key, &jsonschema.Schema{Ref: "#/properties/" + key})
		}
	}
	property, _ := m.root.Properties.Get(quickKey)
	property.AnyOf[0] = part
}

func mappingSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Properties: jsonschema.NewProperties(),
		PatternProperties: make(map[string]*jsonschema.Schema), AdditionalProperties: jsonschema.FalseSchema,
	}
}

func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
}

func fromYAML(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	value, err := validator.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func compiledSchema(t *testing.T) *validator.Schema {
	t.Helper()
	s, err := validator.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaTakesWhatIsRead(t *testing.T) {
	s := compiledSchema(t)
	for _, name := range Names() {
		text, err := PresetText(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(fromYAML(t, text)); err != nil {
			t.Errorf("preset %s: %v", name, err)
		}
	}
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "faults.yaml" {
			continue // not YAML for other readers
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			if err := s.Validate(fromYAML(t, document)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, text := range documented(t) {
		if err := s.Validate(fromYAML(t, []byte(text))); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func TestSchemaTakesWhatIsPrinted(t *testing.T) {
	s := compiledSchema(t)
	rapid.Check(t, func(rt *rapid.T) {
		text, err := anyScenario(rt).Marshal()
		if err != nil {
			rt.Fatal(err)
		}
		if err := s.Validate(fromYAML(t, text)); err != nil {
			rt.Fatalf("%s\n%v", text, err)
		}
	})
}

func documented(t *testing.T) (examples []string) {
	t.Helper()
	fenced := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	for _, file := range []string{"../../../docs/GUIDE.md", "../../../docs/SCENARIOS.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range fenced.FindAllStringSubmatch(string(text), -1) {
			if roots, err := parseYAML([]byte(match[1])); err != nil || len(roots) > 0 {
				examples = append(examples, match[1])
			}
		}
	}
	return examples
}

func TestSchemaRefuses(t *testing.T) {
	s := compiledSchema(t)
	for _, good := range []string{
		`load: {rate: "${RATE:-10k/s}", producers: "${N}", arrival: "${A}"}`,
		"load: {rate: null, acks: 1, linger: 0}",
		"consume: {work: 4ms, commit: batch, changes: [{at: 10s, work: {time: 0s, jitter: 1ms}}]}",
		"matrix: {load.compression: [none, zstd], topic.config.a.b: [1, x], load: [{acks: 1}], load.record.size: [1B, {list: [1B]}], exclude: [{load.compression: none, topic.config.a.b: x}]}",
		"matrix: {load.rate: null, exclude: null}",
		"variants: [{name: off, backpressure: off}, {name: on, load: {producers: 3, processes: 3}, backpressure: {controller: credit, max_lag: 5}}, old]\nmatrix: {exclude: [{variant: off}]}",
		"consume: {queue: markers, work: {p50: 5ms, p99: 100ms}}\nmatrix: {consume.queue.engine: [plain, share]}",
		"consume: {queue: {engine: offsetmap, threads: 25, drop: {share: 50%, how: nack}, backoff: {min: 0s, max: 1s}}, work: {median: 5ms, sigma: 1.5}}",
		"variants: null\nfaults: [{at: 1s, kill: consumer 0}, {at: 2s, start: consumer 0}]",
	} {
		if err := s.Validate(fromYAML(t, []byte(good))); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"[a]", "topik: {}", "load: {rte: 5k/s}", "load: {rate: 10k}", "load: {rate: 10000}", "load: {rate: 5}",
		"load: {record: {size: 512}}", "load: {record: {size: 64KB}}", "load: {record: {size: {uniform: [1B, 2B], list: [1B]}}}",
		"load: {acks: 2}", "load: {acks: -1}", "load: {compression: zst}", "load: {producers: '8'}", "load: {producers: -1}",
		"load: {idempotent: 'yes'}", "load: {linger: 5}", "load: {arrival: bursty}", "load: {arrival: {process: burst, peek: 1/s}}",
		"load: {record: {payload: jsn}}", "load: {record: {keys: zip}}", "consume: {work: 4}", "consume: {commit: often}",
		"consume: {changes: [{at: 5}]}", "phases: {measure: 40}", "phases: {measure: 40 s}", "backpressure: of", "repeat: 0", "repeat: many",
		"order: random", "seed: -1", "topic: {config: {a: [1]}}", "cluster: {jvm: -Xss1m}", "load: {rate: $RATE}",
		"matrix: {load.compression: zstd}", "matrix: {load.compression: []}", "matrix: {load.compression: [zst]}", "matrix: {compression: [zstd]}",
		"matrix: {load.compression: [none, none]}", "matrix: {repeat: [1, 2]}", "matrix: {exclude: {load.acks: 1}}", "matrix: {exclude: [{load.akcs: 1}]}", "matrix: {exclude: [{}]}",
		"variants: {name: a}", "variants: []", "variants: [{load: {acks: 1}}]", "variants: [{name: a, repeat: 2}]", "variants: [{name: a, load: {akcs: 1}}]",
		"consume: {queue: marker}", "consume: {queue: {drop: 50%}}", "consume: {queue: {drop: {share: 0.5}}}", "consume: {queue: {threads: 0}}",
		"backpressure: {controller: credits}", "backpressure: {signal: lag}", "backpressure: {keep: 0}", "load: {processes: 0}", "faults: [{at: 1s, kill: 0}]", "faults: [{at: 1s, kill: consumer}]",
	} {
		if s.Validate(fromYAML(t, []byte(bad))) == nil {
			t.Errorf("%s: no complaint", bad)
		}
	}
}
