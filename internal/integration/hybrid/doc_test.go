// Package hybrid tests sessions that have both tiers, with the real drivers: the contract, and what happens when the tiers
// are used at the same time.
package hybrid
