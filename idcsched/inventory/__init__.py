"""The inventory: regions, ISPs, IDCs with their lines, and the taints and affinities that operators set on them."""
