"""The theorem on dataflows of a stated size.

`small_scope` and `counterexamples` find steps and runs that make the clause of a broken variant false.
`refinement` and `any_refinement` compare the theorem with the executable model.
"""
