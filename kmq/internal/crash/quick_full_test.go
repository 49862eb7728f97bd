//go:build full

package crash

const quick = false
