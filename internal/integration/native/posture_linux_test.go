package nativetests

import (
	"regexp"
	"slices"
	"strings"
)

// perHost are what the posture tells about the host and not about the cell.
var perHost = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?m)^Landlock: ABI \d+`), "Landlock: ABI of the kernel"},
	{regexp.MustCompile(`(?m)^\tnproc \S+ \S+$`), "\tnproc of the host"},
	{regexp.MustCompile(`(?m)^\ttime(_for_children)?\n`), ""},                                                                                                       // Linux 5.6
	{regexp.MustCompile(`(?m),(relatime|noatime|nodiratime|idmapped|nosymfollow)\b`), ""},                                                                           // of the host's own mounts
	{regexp.MustCompile(`(?m)^\t(/dev/(?:full|null|random|tty|urandom|zero)) \S+ `), "\t$1 host "},                                                                  // device nodes
	{regexp.MustCompile(`(?m)^\t(/usr|/bin|/sbin|/lib\w*) \S+ `), "\t$1 host "},                                                                                     // programs
	{regexp.MustCompile(`(?m)^\t/tmp/sandbox-work \S+ `), "\t/tmp/sandbox-work host "},                                                                              // the work directory
	{regexp.MustCompile(`(?m)^\t/etc/\S+ \S+ `), "\t/etc/... host "},                                                                                                // what the host has of them
	{regexp.MustCompile(`(?m)^\t/proc/(?:acpi|asound|[ik][a-z-]+|key-users|modules|latency_stats|s[cl][a-z_]+|timer_\w+|vmallocinfo) \S+ `), "\t/proc/... masked "}, // what the kernel has of them
}

// normalPosture takes out what differs from host to host. Lines that have become alike are one.
func normalPosture(posture string) string {
	for _, p := range perHost {
		posture = p.pattern.ReplaceAllString(posture, p.with)
	}
	lines := slices.Compact(strings.Split(posture, "\n"))
	var out []string
	for _, line := range lines {
		if strings.Contains(line, "...") && slices.Contains(out, line) {
			continue
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
