package main

import (
	"path/filepath"
	"regexp"
	"strings"
)

var (
	code = regexp.MustCompile("`([^`\\s]+)`")
	// block matches the start of a new subject in Markdown. A bare file name is looked up in the
	// folders that its block has named before.
	block = regexp.MustCompile(`\n(?:\s*\n|\s*(?:[-*|#]|\d+\.))`)
)

// missing returns the paths in backticks in text that do not exist. A path begins at one of the
// roots, or below internal/ or a group of folders there. A bare file name must be in a root, or in
// a folder that its block named before. If the block named none, it may be in any folder.
func missing(text string, roots ...string) []string {
	var gone []string
	for _, b := range block.Split(text, -1) {
		places := []string{""}
		for _, match := range code.FindAllStringSubmatch(b, -1) {
			path := strings.TrimPrefix(match[1], "./")
			if !top.MatchString(path) && !goFile.MatchString(path) {
				continue
			}
			if folder, known := find(path, places, roots); known {
				places = append(places, folder)
			} else {
				gone = append(gone, path)
			}
		}
	}
	return gone
}

var (
	top    = regexp.MustCompile(`^(backpressure|cmd|docs|internal|kmq|results|schema)(/[\w./*-]*)?$`)
	goFile = regexp.MustCompile(`^[a-zA-Z*][\w./*-]*\.go$`)
)

// find returns the folder of a path, and whether the path exists. places are the folders for a bare
// file name.
func find(path string, places, roots []string) (folder string, known bool) {
	if strings.Contains(path, "/") {
		places = []string{"", "internal", "internal/*"}
	} else if len(places) == 1 {
		places = []string{"", "*", "*/*", "*/*/*", "*/*/*/*"}
	}
	for _, root := range roots {
		for _, place := range places {
			found, err := filepath.Glob(filepath.Join(root, place, path))
			if err != nil || len(found) == 0 {
				continue
			}
			if strings.HasSuffix(path, ".go") {
				path = filepath.Dir(path)
			}
			return filepath.Join(place, path), true
		}
	}
	return "", false
}
