package cold

// Formats are all formats, in the order in which a document is held against them.
var Formats = []Format{sweAgent, inspectLog, verifiersResult, verifiersEpisode, tau2, exchange, claudeCode, spans}
