"""Decompress gzip and zlib streams, damaged ones too."""
