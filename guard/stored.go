package guard

// The words below are hashed or compared in stored banks. They remain as the first version wrote
// them, since other words would change the hashes of banks that users have.
const (
	// storedItems is the first string that is hashed before an entry's item ids. It must not
	// change, since banks that users have contain the hashes.
	storedItems = "products"
	// storedItem is the prefix of item ids in the lists of keys by which problems are grouped:
	// problems with a common key are in one cluster. The prefix distinguishes item ids from problem
	// ids.
	storedItem = "product "
)
