package result_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	check "github.com/santhosh-tekuri/jsonschema/v6"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

var update = flag.Bool("update", false, "write the schemas and the golden run anew")

const schemaDir = "../../schema"

var published = []struct {
	file  string
	title string
	value any
}{
	{"run.schema.json", "run.json of a Kafka Bench run", result.Run{}},
	{"interval.schema.json", "a line of intervals.ndjson of a Kafka Bench run", result.Interval{}},
	{"event.schema.json", "a line of events.ndjson of a Kafka Bench run", result.Event{}},
	{"curves.schema.json", "curves.json of a Kafka Bench run", result.Curves{}},
	{"agent.schema.json", "a line of agents.ndjson of a Kafka Bench run", result.AgentInterval{}},
	{"pulse.schema.json", "a line of pulses.ndjson of a Kafka Bench run", result.Pulse{}},
	{"campaign.schema.json", "campaign.json of a Kafka Bench campaign", result.Campaign{}},
}

func TestSchemaIsThePublishedOne(t *testing.T) {
	for _, p := range published {
		got := generate(t, p.value, p.file, p.title)
		path := filepath.Join(schemaDir, p.file)
		if *update {
			if err := os.MkdirAll(schemaDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s does not describe the types any more. Fields may be added, never renamed or removed; if that holds, run the test with -update", path)
		}
	}
}

// Other fields are allowed, because a newer kafka-bench of the same schema version may add some.
func generate(t *testing.T, v any, file, title string) []byte {
	t.Helper()
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: true, Mapper: anySettings}
	if err := r.AddGoComments(reflect.TypeFor[result.Run]().PkgPath(), ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	s := r.Reflect(v)
	s.ID = jsonschema.ID("urn:kafka-bench:" + strings.TrimSuffix(file, ".json"))
	s.Title = title
	markNullable(reflect.TypeOf(v), s, s)
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func anySettings(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[result.Settings]() {
		return &jsonschema.Schema{}
	}
	return nil
}

// markNullable lets pointer fields be null, for figures that were not measured.
func markNullable(t reflect.Type, s, root *jsonschema.Schema) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		property, ok := s.Properties.Get(name)
		if !ok {
			continue
		}
		// A type that two fields have is visited twice.
		if f.Type.Kind() == reflect.Pointer && options == "" && property.OneOf == nil {
			s.Properties.Set(name, &jsonschema.Schema{
				Description: property.Description,
				OneOf:       []*jsonschema.Schema{{Type: property.Type, Ref: property.Ref}, {Type: "null"}},
			})
		}
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
			inner = inner.Elem()
		}
		if definition, ok := root.Definitions[inner.Name()]; ok && inner.Kind() == reflect.Struct {
			markNullable(inner, definition, root)
		}
	}
}

func compile(t *testing.T, file string) *check.Schema {
	t.Helper()
	c := check.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(filepath.Join(schemaDir, file))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *check.Schema, document []byte) error {
	t.Helper()
	v, err := check.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestWrittenRunsFollowTheSchema(t *testing.T) {
	var run result.Run
	var interval result.Interval
	var event result.Event
	var curves result.Curves
	var agent result.AgentInterval
	var pulse result.Pulse
	for _, v := range []any{&run, &interval, &event, &curves, &agent, &pulse} {
		populate(reflect.ValueOf(v).Elem())
	}
	for name, write := range map[string]func(*result.Writer) error{
		"unfinished": func(w *result.Writer) error { return nil },
		"minimal":    func(w *result.Writer) error { return writeAll(w, result.Run{}, result.Interval{}, result.Event{}) },
		"full": func(w *result.Writer) error {
			return errors.Join(w.Curves(curves), w.Agent(agent), w.Pulse(pulse), writeAll(w, run, interval, event))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := create(t)
			if err := write(w); err != nil {
				t.Fatal(err)
			}
			for file, schema := range map[string]string{
				result.SummaryFile:   "run.schema.json",
				result.IntervalsFile: "interval.schema.json",
				result.EventsFile:    "event.schema.json",
				result.CurvesFile:    "curves.schema.json",
				result.AgentsFile:    "agent.schema.json",
				result.PulsesFile:    "pulse.schema.json",
			} {
				b, err := os.ReadFile(filepath.Join(w.Dir(), file))
				if slices.Contains([]string{result.CurvesFile, result.AgentsFile, result.PulsesFile}, file) && name != "full" && os.IsNotExist(err) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(b) == 0 && name == "unfinished" {
					continue
				}
				if err := validate(t, compile(t, schema), b); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	w := create(t)
	run := result.Run{Verdict: result.Verdict{Status: result.Valid}}
	if err := writeAll(w, run, result.Interval{}, result.Event{}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(w.Dir(), result.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	s := compile(t, "run.schema.json")
	if err := validate(t, s, good); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"another status":         {`"status": "valid"`, `"status": "good"`},
		"a count that is text":   {`"scheduled": 0`, `"scheduled": "0"`},
		"a count that is null":   {`"scheduled": 0`, `"scheduled": null`},
		"no verdict":             {`"verdict"`, `"judgement"`},
		"reasons that are null":  {`"reasons": []`, `"reasons": null`},
		"a time that is no time": {`"started_at": "2026`, `"started_at": "soon`},
	} {
		bad := bytes.Replace(good, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("%s: nothing to change", what)
		}
		if validate(t, s, bad) == nil {
			t.Errorf("%s: no complaint", what)
		}
	}
}

func populate(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem())
	case reflect.Struct:
		if v.CanAddr() && v.Addr().Type() == reflect.TypeFor[*result.Run]() {
			defer func() {
				run := v.Addr().Interface().(*result.Run)
				run.Verdict.Status, run.System.Status = result.Valid, result.KeptUp
				run.Run.Placement = "own"
			}()
		}
		switch v.Interface().(type) {
		case time.Time:
			v.Set(reflect.ValueOf(startedAt))
			return
		case result.Settings:
			v.Set(reflect.ValueOf(resulttest.Settings(map[string]any{"rate": "10k/s", "list": []any{true}})))
			return
		}
		for i := range v.NumField() {
			populate(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		populate(v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		populate(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"rate": "10k/s", "list": []any{true}}))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1.5)
	}
}
