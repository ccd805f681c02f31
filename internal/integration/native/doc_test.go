// Package nativetests holds failures that users of systems like this one have met, as tests of the native tier on both
// backends, and the programs that scripts are made of. A test is named after the numbers of the cases that it is
// about; the table in cases_test.go leads from a number to its tests.
package nativetests
