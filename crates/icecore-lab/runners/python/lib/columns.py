"""What the runners of columns share: rows with three fields, each a blob."""

SCHEMA = "id int64, name utf8, score float64"


def blobs(icecore, rows, format):
    """Each row as bytes of a format, as its own runtime would write it."""
    return [icecore.dumps(row, format, losses="ignore") for row in rows]


def joined(blobs):
    """Their bytes: what is counted."""
    return b"".join(bytes(blob) for blob in blobs if blob is not None)
