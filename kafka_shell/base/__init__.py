"""Values and text that every layer uses: units, quoting, files. Nothing here uses a cluster."""
