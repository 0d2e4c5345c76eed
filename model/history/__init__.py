"""Components with a history of the messages that they have received and sent. The history decides nothing."""
