// Command schemas writes a JSON Schema for each kind that deploy/kubernetes uses, from the OpenAPI
// description of a Kubernetes release. It is run by hand, in deploy/kubernetes/check:
//
//	go run ./schemas
//
// The schemas are strict: an unknown field is an error. The Go client downloads the release as a
// module.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const release = "k8s.io/kubernetes@v1.34.4"

// kinds maps kubeconform's file names to definitions.
var kinds = map[string]string{
	"job-batch-v1.json":                "io.k8s.api.batch.v1.Job",
	"networkpolicy-networking-v1.json": "io.k8s.api.networking.v1.NetworkPolicy",
}

func main() {
	if err := run("schemas"); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	out, err := exec.Command("go", "mod", "download", "-json", release).Output()
	if err != nil {
		return fmt.Errorf("go mod download %s: %w\n%s", release, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "api", "openapi-spec", "swagger.json"))
	if err != nil {
		return err
	}
	var api struct{ Definitions definitions }
	if err := json.Unmarshal(text, &api); err != nil {
		return err
	}
	// The description has strings here, but numbers are valid too.
	either := func(number string) map[string]any {
		return map[string]any{"type": []string{"string", number}}
	}
	api.Definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = either("integer")
	api.Definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] = either("number")
	for file, kind := range kinds {
		if err := write(filepath.Join(folder, file), kind, api.Definitions); err != nil {
			return err
		}
	}
	return nil
}

const local = "#/definitions/"

type definitions map[string]map[string]any

func write(path, kind string, all definitions) error {
	used := make(definitions)
	if err := all.collect(kind, used); err != nil {
		return err
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "$ref": local + kind, "definitions": used,
	}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func (all definitions) collect(kind string, used definitions) error {
	if used[kind] != nil {
		return nil
	}
	if all[kind] == nil {
		return fmt.Errorf("%s has no definition of %s", release, kind)
	}
	used[kind] = strict(all[kind])
	var faults []error
	refer(used[kind], func(other string) { faults = append(faults, all.collect(other, used)) })
	return errors.Join(faults...)
}

// strict returns only what validates a document, and refuses unlisted properties.
func strict(schema map[string]any) map[string]any {
	kept := make(map[string]any)
	for key, value := range schema {
		inner, isMap := value.(map[string]any)
		switch {
		case key == "description", strings.HasPrefix(key, "x-"):
		case key == "properties":
			properties := make(map[string]any)
			for name, property := range inner {
				properties[name] = strict(property.(map[string]any))
			}
			kept["properties"], kept["additionalProperties"] = properties, false
		case isMap:
			kept[key] = strict(inner)
		default:
			kept[key] = value
		}
	}
	return kept
}

func refer(schema map[string]any, found func(kind string)) {
	for key, value := range schema {
		switch v := value.(type) {
		case string:
			if kind, ok := strings.CutPrefix(v, local); ok && key == "$ref" {
				found(kind)
			}
		case map[string]any:
			refer(v, found)
		}
	}
}
