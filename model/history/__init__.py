"""Components with a record of what they have received and sent, which decides nothing."""
