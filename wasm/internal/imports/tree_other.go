//go:build !unix

package imports

// calmFlags has nothing to add where opening a file cannot block.
const calmFlags = 0
