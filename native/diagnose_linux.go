package native

// diagnose names the setting of this host that stands in the way of a step, and what to do about it.
func diagnose(Backend, string, error) (cause, remedy string) { return "", "" }
