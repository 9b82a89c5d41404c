package reward

// Parts are the parts of a reward, for the tests and the page on rewards.
var Parts = parts
