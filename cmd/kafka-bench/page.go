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

// ownFolder is what --page says without a file: the page goes into the folder of the run or
// the campaign, as pageFile.
const (
	ownFolder = "in its folder"
	pageFile  = "page.html"
)

// checkPage finds out whether the page can be written, before anything is started.
func checkPage(file string) error {
	if file == "" || file == ownFolder {
		return nil
	}
	if there, err := os.Stat(file); err == nil && there.IsDir() {
		return fmt.Errorf("--page %s is a folder; name a file, as in %s", file, filepath.Join(file, pageFile))
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return fmt.Errorf("--page: %w", err)
	}
	return nil
}

// writeRunPage writes the page of the run in dir, if one is wanted, and says where it is.
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

// writeStudyPage is the same of a campaign.
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
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("the page could not be written: %w", err)
	}
	_, err := fmt.Fprintf(stdout, "Page: %s\n", file)
	return err
}
