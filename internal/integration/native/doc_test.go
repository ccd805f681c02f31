// Package nativetests holds failures that users of systems like this one have met, as tests of the native tier on both
// backends, and the programs that scripts are made of.
package nativetests
