package pipeline

// TrustAllFiles has r store the hashes of files that changed a moment ago, too.
func TrustAllFiles(r *Run) { r.quiet = 1 }
