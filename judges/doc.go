// Package judges holds the instruments that grade attempts: the subnet's own
// outcome rules, the reasoning judges and the measures of how far two judges
// agree. Each is a package of its own; an instrument that fails gives no
// grade, never a low one.
package judges
