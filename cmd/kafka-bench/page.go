package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/pages"
)

// --page without a file stands for pageFile in the folder of the run or campaign.
const (
	ownFolder = "in its folder"
	pageFile  = "page.html"
)

func checkPage(file string) error {
	if file == ownFolder {
		return nil
	}
	return checkFile("--page", file, pageFile)
}

// checkFile refuses a file that cannot be written at the end; "" is no file.
func checkFile(flag, file, example string) error {
	if file == "" {
		return nil
	}
	if file == "-" {
		return fmt.Errorf("%s -: standard output has the report; name a file, as in %s", flag, example)
	}
	if !exists(filepath.Dir(file)) { // writeFile makes it
		return checkFile(flag, filepath.Dir(file), example)
	}
	there, missing := os.Stat(file)
	if missing == nil && there.IsDir() {
		return fmt.Errorf("%s %s is a folder; name a file, as in %s", flag, file, filepath.Join(file, example))
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644) // existing content stays
	if err == nil {
		err = f.Close()
	}
	if err == nil && missing != nil {
		err = os.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// writeFile makes the folder of a file too.
func writeFile(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func writeRunPage(file, dir string, stdout io.Writer) error {
	if file == "" {
		return nil
	}
	r, err := result.Read(dir)
	if err != nil {
		return err
	}
	return writePage(file, dir, pages.Run(r), stdout)
}

func writeStudyPage(file string, c *result.RecordedCampaign, stdout io.Writer) error {
	if file == "" {
		return nil
	}
	page, err := pages.Study(c, "")
	if err != nil {
		return err
	}
	return writePage(file, c.Dir, page, stdout)
}

func writePage(file, dir string, page *pages.Page, stdout io.Writer) error {
	if file == ownFolder {
		file = filepath.Join(dir, pageFile)
	}
	var b bytes.Buffer
	if err := page.Write(&b, pages.Options{}); err != nil {
		return err
	}
	if err := writeFile(file, b.Bytes()); err != nil {
		return fmt.Errorf("the page could not be written: %w", err)
	}
	_, err := fmt.Fprintf(stdout, "Page: %s\n", file)
	return err
}
