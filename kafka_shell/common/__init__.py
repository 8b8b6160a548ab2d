"""Values and text that every layer uses: units, quoting, files. Nothing here knows a cluster."""
