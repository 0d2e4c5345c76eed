"""What people and machines read: pure functions from results to text, Markdown, JSON, JUnit XML and SARIF."""
