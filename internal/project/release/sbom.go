package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// The types below are those of CycloneDX 1.6, with the fields that are used.
type sbom struct {
	Format       string      `json:"bomFormat"`
	SpecVersion  string      `json:"specVersion"`
	Serial       string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
	Dependencies []requires  `json:"dependencies"`
}

type metadata struct {
	Timestamp time.Time `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Hashes  []hash `json:"hashes,omitempty"`
	PURL    string `json:"purl"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type requires struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func (r release) sbom(name, binary string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(r.bill(name, sha256.Sum256(content), info), "", "  ")
	return append(out, '\n'), err
}

// bill lists the modules that a binary has by its build information. The serial number is made from
// the checksum of the binary, so one commit has one.
func (r release) bill(name string, sum [sha256.Size]byte, info *buildinfo.BuildInfo) sbom {
	main := component{
		Type: "application", Ref: name, Name: program, Version: r.version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, PURL: purl(info.Main.Path, r.version),
	}
	b := sbom{
		Format: "CycloneDX", SpecVersion: "1.6", Serial: serial(sum), Version: 1,
		Metadata:   metadata{Timestamp: r.at, Component: main},
		Components: []component{library("std", strings.TrimPrefix(info.GoVersion, "go"))},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, library(m.Path, m.Version))
	}
	all := requires{Ref: main.Ref}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	b.Dependencies = []requires{all}
	return b
}

func library(path, version string) component {
	return component{Type: "library", Ref: purl(path, version), Name: path, Version: version, PURL: purl(path, version)}
}

func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial is a UUID of version 8, whose bits may be any: here those of a checksum.
func serial(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
