package filters

// RevisedOdds is the sum of both passes, before it is turned into a claim.
var RevisedOdds = (*Filter).revisedOdds
