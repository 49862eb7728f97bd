package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const licensesFile = "THIRD_PARTY_LICENSES"

var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(-[^.]*)?(\.(md|txt|rst))?$`)

// licenses returns the licences of Go and of all modules that a binary for one of the platforms has:
// those in the module's root, and those next to or above a package that is used.
func licenses(ctx context.Context) ([]byte, error) {
	folders := make(map[string][]string) // of packages, by module and version
	roots := make(map[string]string)
	for _, p := range platforms {
		list, err := output(ctx, []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch}, "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/"+program)
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(string(list), "\n") {
			if part := strings.Split(line, "\t"); len(part) == 3 {
				roots[part[0]] = part[1]
				folders[part[0]] = append(folders[part[0]], part[2])
			}
		}
	}
	goroot, err := output(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goName := "Go and its standard library"
	roots[goName] = strings.TrimSpace(string(goroot))
	folders[goName] = []string{roots[goName]}

	var all bytes.Buffer
	for _, module := range slices.Sorted(maps.Keys(folders)) {
		files, err := licensesOf(roots[module], folders[module])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&all, "%s\n%s, %s\n\n%s\n", strings.Repeat("=", 100), module, name, bytes.TrimSpace(files[name]))
		}
	}
	return all.Bytes(), nil
}

// licensesOf returns the licences of one module by their paths in it.
func licensesOf(root string, folders []string) (contents, error) {
	files := make(contents)
	for _, folder := range append(folders, root) {
		for inside := folder; strings.HasPrefix(inside, root); inside = filepath.Dir(inside) {
			entries, err := os.ReadDir(inside)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.IsDir() || !licenseName.MatchString(e.Name()) {
					continue
				}
				path := filepath.Join(inside, e.Name())
				if files[strings.TrimPrefix(path, root+"/")], err = os.ReadFile(path); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no licence is in %s", filepath.Base(root))
	}
	return files, nil
}
