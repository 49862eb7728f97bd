// Package web shows recorded runs and the run in progress to browsers, and exports metrics of the
// run in progress to Prometheus. The pages of recorded runs are those of package pages.
//
// The server only reads, and answers only GET and HEAD. A page is only for this machine, unless the
// address says otherwise; then a token protects it. All files are opened below one folder, and
// links out of it are not followed.
//
// A child process of the run serves the run's live page (ADR 0010). The run sends the child lines
// of JSON with its folder and progress ([Pages]). The child reads everything else from the run's
// files ([Serve]), and ends when its standard input ends.
//
// Files to know: address.go and door.go (who may see a page), library.go (the folder of runs),
// list.go, site.go (pages by their address), export.go (the same pages as files), tell.go (the
// run's side of a live page), child.go (the child's side), state.go (what the page shows), tabs.go
// (open tabs), scrape.go (metrics), assets/ (templates, live.js).
package web
