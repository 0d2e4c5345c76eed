"""Sources of cases: tours, directed cases, cases of each rule, random walks, Hypothesis machines."""
