"""Commands about implementations under test."""
