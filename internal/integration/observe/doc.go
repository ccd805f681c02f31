// Package observe has tests of what a server tells of itself: logs, metrics, traces and health checks, with real tiers, over HTTP.
package observe
