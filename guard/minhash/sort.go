package minhash

// sortByKey sorts records by key and returns them in one of the two slices,
// which have equal length. Records of equal key are in the order of documents, as
// they are on entry.
func sortByKey(records, buffer []record) []record {
	// Three passes over 33 bits put nearly all in place; the rest is one pass of
	// insertion.
	for _, shift := range []uint{31, 42, 53} {
		countingPass(records, buffer, shift)
		records, buffer = buffer, records
	}
	for i := 1; i < len(records); i++ {
		for j := i; j > 0 && records[j].key < records[j-1].key; j-- {
			records[j], records[j-1] = records[j-1], records[j]
		}
	}
	return records
}

// countingPass moves records to buffer in the order of eleven bits of the key.
func countingPass(records, buffer []record, shift uint) {
	const mask = 1<<11 - 1
	var starts [1 << 11]int
	for i := range records {
		starts[records[i].key>>shift&mask]++
	}
	sum := 0
	for i, n := range starts {
		starts[i], sum = sum, sum+n
	}
	for i := range records {
		digit := records[i].key >> shift & mask
		buffer[starts[digit]] = records[i]
		starts[digit]++
	}
}
