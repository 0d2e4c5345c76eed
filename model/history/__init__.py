"""Components with a history of the messages that they have received and sent. No step reads the history."""
