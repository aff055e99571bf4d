"""Sources of samples: what is asked, on which schedule, and how answers are mapped to samples."""
