"""Detect what a bytes value holds: images, audio, tensors, text."""
