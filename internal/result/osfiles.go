package result

import (
	"io/fs"
	"os"
)

// Unlike os.DirFS, osFiles accepts absolute paths and "..".
type osFiles struct{}

// Open implements fs.FS.
func (osFiles) Open(name string) (fs.File, error) { return os.Open(name) }

// Stat implements fs.StatFS.
func (osFiles) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Lstat implements fs.ReadLinkFS.
func (osFiles) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// ReadLink implements fs.ReadLinkFS.
func (osFiles) ReadLink(name string) (string, error) { return os.Readlink(name) }
