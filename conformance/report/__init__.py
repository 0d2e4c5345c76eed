"""Reports: pure functions from results to text, Markdown, JSON, JUnit XML and SARIF."""
