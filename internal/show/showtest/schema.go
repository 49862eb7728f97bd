package showtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	check "github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaDir = "../../../schema"

// Schema compares the JSON Schema of a document's Go type with the published file, and checks that
// testdata/golden follows it.
func Schema(t *testing.T, document any, file, title, golden string) {
	t.Helper()
	got := generate(t, document, file, title)
	path := filepath.Join(schemaDir, file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not describe the types any more. Members may be added, never renamed or removed; if that holds, run the test with -update", path)
	}
	follows(t, path, golden)
}

// Changed copies must not follow the schema.
func follows(t *testing.T, path, golden string) {
	t.Helper()
	c := check.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join("testdata", golden))
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		document []byte
		good     bool
	}{
		"as written":        {written, true},
		"of another kind":   {bytes.Replace(written, []byte(`"kind": "`), []byte(`"kind": "other `), 1), false},
		"without a version": {bytes.Replace(written, []byte(`"document_version": 1`), []byte(`"version": 1`), 1), false},
	} {
		v, err := check.UnmarshalJSON(bytes.NewReader(c.document))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != c.good {
			t.Errorf("%s %s: %v", golden, what, err)
		}
	}
}

func generate(t *testing.T, v any, file, title string) []byte {
	t.Helper()
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: true}
	for _, dir := range []string{".", "../report", "../analysis", "../../result"} {
		if err := r.AddGoComments(reflect.TypeOf(v).PkgPath(), dir, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
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

// A pointer without omitempty is null for an unknown figure.
func markNullable(t reflect.Type, s, root *jsonschema.Schema) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			markNullable(f.Type, s, root)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		property, ok := s.Properties.Get(name)
		if !ok {
			continue
		}
		switch {
		case f.Type.Kind() == reflect.Pointer && options == "" && property.OneOf == nil:
			s.Properties.Set(name, nullable(property))
		case f.Type.Kind() == reflect.Map && f.Type.Elem().Kind() == reflect.Pointer:
			property.AdditionalProperties = nullable(&jsonschema.Schema{Type: "number"})
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Pointer:
			property.Items = nullable(&jsonschema.Schema{Type: "number"})
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

func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{
		Description: s.Description,
		OneOf:       []*jsonschema.Schema{{Type: s.Type, Ref: s.Ref}, {Type: "null"}},
	}
}
