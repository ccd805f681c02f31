// Package console has the tests of the server's page, in a real browser against a real server.
//
// The browser is Debian's Chromium without a window, spoken to by its DevTools protocol over two pipes, so that it listens on no
// port. SANDBOX_REQUIRE=chromium makes it a failure that there is none.
package console
