package engine

// Snapshot is a copy of a session.
type Snapshot struct{ state State }
