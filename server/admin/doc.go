// Package admin answers those who watch over a server: health and readiness checks, scrapes of metrics, and profiles. It is for a
// listener of its own, which callers of the service do not reach, and it leads to no session. It asks for no
// credentials: who reaches the listener may ask. It keeps pages in browsers off as the service does.
package admin
