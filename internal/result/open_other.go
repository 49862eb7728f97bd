//go:build !unix

package result

const noLinkNorWait = 0
