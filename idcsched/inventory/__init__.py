"""What exists: regions, ISPs, IDCs with their lines, and what operators say about them."""
