// Package web shows recorded runs, and the run that goes on, to browsers; and its metrics to
// Prometheus. The pages of recorded runs are those of package pages.
//
// Nothing here changes anything: only GET and HEAD are answered. A page is for this machine
// unless the address says otherwise, and then only for those who have its token. All files are
// opened below one folder, and what leads out of it is not found.
//
// The page of a run that goes on is served by a process of its own, a child of the run's. So
// nothing that a browser or a scrape asks for takes time from the run's process. The run tells
// its child in lines of JSON where its folder is and how far it has come ([Pages]); all else
// the child reads from the files that the run writes ([Serve]). The child ends with its
// standard input.
//
// Files to know: address.go and door.go (who may see a page), library.go (the folder of runs),
// list.go, site.go (addresses, and pages by them), export.go (the same as files), tell.go (the run's
// side of a live page), child.go (the child's side), state.go (what the page shows), tabs.go
// (who looks), scrape.go (metrics), assets/ (templates, live.js).
package web
