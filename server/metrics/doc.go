// Package metrics counts what happens in a server, for Prometheus. A Metrics is the server's Observer, and Handler is what
// is scraped; the listener for that is an admin listener's: see package server/admin.
//
// Labels have values of fixed sets, so that no caller can make series: backends, tiers, reasons, procedures and codes. What is
// none of them is "other". There are no ids, names of principals, paths or texts in them.
package metrics
