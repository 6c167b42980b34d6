"""Identify foreign files by their first bytes."""
