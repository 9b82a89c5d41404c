package cli

import (
	"slices"

	"github.com/trajectory-arena/arena/corpus"
)

// watched is a file system that tells of every piece that is read of the files
// in some folders.
type watched struct {
	corpus.FS
	folders []string
	tell    func(bytes int)
}

// Watched tells of what is read of the files in folders of fsys.
func Watched(fsys corpus.FS, folders []string, tell func(bytes int)) corpus.FS {
	return watched{fsys, folders, tell}
}

// Open opens a file for reading.
func (w watched) Open(path string) (corpus.Source, error) {
	f, err := w.FS.Open(path)
	if err != nil || !slices.ContainsFunc(w.folders, func(folder string) bool { return Within(folder, path) }) {
		return f, err
	}
	return watchedSource{f, w.tell}, nil
}

type watchedSource struct {
	corpus.Source
	tell func(bytes int)
}

// Read implements io.Reader.
func (s watchedSource) Read(b []byte) (int, error) {
	n, err := s.Source.Read(b)
	s.tell(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (s watchedSource) ReadAt(b []byte, at int64) (int, error) {
	n, err := s.Source.ReadAt(b, at)
	s.tell(n)
	return n, err
}
