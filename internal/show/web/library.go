package web

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// Library is a folder of runs and campaigns. It reads files when they are needed, and none outside
// of the folder. Its methods are safe for concurrent use.
type Library struct {
	dir   string // as the user wrote it; "." in files
	title string // of the list; "" names the folder
	root  *os.Root
	fsys  fs.FS

	mu        sync.Mutex
	rows      map[string]kept[result.Row]
	campaigns map[string]kept[*result.Campaign]
}

type kept[T any] struct {
	version version
	value   T
	err     error
}

type version struct {
	size int64
	at   time.Time
}

// mostKept bounds the kept contents of each kind.
const mostKept = 20_000

// ExportTitle is the title of the list in files, unless SetTitle gives another.
const ExportTitle = "Kafka Bench runs"

// OpenLibrary opens the folder.
func OpenLibrary(dir string) (*Library, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s; name the one that the runs are in", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the folder of the runs: %w", err)
	}
	return newLibrary(dir, "", root), nil
}

func newLibrary(dir, title string, root *os.Root) *Library {
	return &Library{
		dir: dir, title: title, root: root, fsys: root.FS(),
		rows: map[string]kept[result.Row]{}, campaigns: map[string]kept[*result.Campaign]{},
	}
}

// SetTitle sets the title of the list, which is otherwise "Runs in " and the folder's path. It must not be called while the library is used.
func (l *Library) SetTitle(title string) { l.title = title }

// Close closes the folder.
func (l *Library) Close() error { return l.root.Close() }

// entry is a folder of a run or a campaign. All fields but version come from its name.
type entry struct {
	folder  string
	name    string    // of the scenario, as spelled in the folder's name
	at      time.Time // when it was made; zero if the name has no time
	version version   // of its run.json or campaign.json
}

// folderName matches a folder's name as package result makes it: time, name, id.
var folderName = regexp.MustCompile(`^(\d{8}T\d{6}Z)-(.+)-([a-z2-7]{6})$`)

func entryOf(folder string, v version) entry {
	e := entry{folder: folder, name: folder, version: v}
	if parts := folderName.FindStringSubmatch(folder); parts != nil {
		if at, err := time.Parse("20060102T150405Z", parts[1]); err == nil {
			e.name, e.at = parts[2], at
		}
	}
	return e
}

// list opens no files of the folders. Latest come first, as names begin with the time.
func (l *Library) list() (runs, campaigns []entry, err error) {
	folders, err := result.Folders(l.fsys, ".")
	if err != nil {
		return nil, nil, fmt.Errorf("the folder %s: %w", l.dir, err)
	}
	slices.Reverse(folders)
	for _, folder := range folders {
		if info, err := fs.Lstat(l.fsys, path.Join(folder, result.SummaryFile)); err == nil {
			runs = append(runs, entryOf(folder, version{info.Size(), info.ModTime()}))
		} else if info, err := fs.Lstat(l.fsys, path.Join(folder, result.CampaignFile)); err == nil {
			campaigns = append(campaigns, entryOf(folder, version{info.Size(), info.ModTime()}))
		}
	}
	return runs, campaigns, nil
}

func (l *Library) row(e entry) (result.Row, error) {
	return look(l, l.rows, e, func() (result.Row, error) { return result.ReadRow(l.fsys, e.folder) })
}

func (l *Library) campaignFile(e entry) (*result.Campaign, error) {
	return look(l, l.campaigns, e, func() (*result.Campaign, error) { return result.ReadCampaignFile(l.fsys, e.folder) })
}

// look reads an entry only if its file has changed.
func look[T any](l *Library, all map[string]kept[T], e entry, read func() (T, error)) (T, error) {
	l.mu.Lock()
	k, known := all[e.folder]
	l.mu.Unlock()
	if known && k.version == e.version {
		return k.value, k.err
	}
	k = kept[T]{version: e.version}
	k.value, k.err = read()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(all) >= mostKept {
		clear(all)
	}
	all[e.folder] = k
	return k.value, k.err
}

func (l *Library) lastLine(e entry) time.Time {
	at := e.version.at
	for _, name := range []string{result.IntervalsFile, result.EventsFile} {
		if info, err := fs.Lstat(l.fsys, path.Join(e.folder, name)); err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

// run returns a run whose Dir begins with the library's folder as the user wrote it.
func (l *Library) run(folder string) (*result.Recorded, error) {
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	r, err := result.ReadFS(l.fsys, folder)
	if err != nil {
		return nil, err
	}
	r.Dir = l.path(r.Dir)
	return r, nil
}

func (l *Library) campaign(folder string) (*result.RecordedCampaign, error) {
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	c, err := result.ReadCampaignFS(l.fsys, folder)
	if err != nil {
		return nil, err
	}
	c.Dir = l.path(c.Dir)
	for _, r := range c.Runs {
		if r != nil {
			r.Dir = l.path(r.Dir)
		}
	}
	return c, nil
}

func (l *Library) summary(folder string) (*result.Recorded, error) {
	run, err := result.ReadSummary(l.fsys, folder)
	if err != nil {
		return nil, err
	}
	return &result.Recorded{Dir: l.path(folder), Run: *run}, nil
}

func (l *Library) path(folder string) string { return filepath.Join(l.dir, filepath.FromSlash(folder)) }

// folder is the inverse of path; "" if dir is not in the library.
func (l *Library) folder(dir string) string {
	folder, err := filepath.Rel(l.dir, dir)
	if err != nil || checkFolder(folder) != nil {
		return ""
	}
	return folder
}

// checkFolder accepts only a name that a folder directly in the library can have.
func checkFolder(folder string) error {
	if !fs.ValidPath(folder) || folder == "." || strings.ContainsAny(folder, `/\`) {
		return fmt.Errorf("%q is no folder of a run: %w", folder, fs.ErrNotExist)
	}
	return nil
}
