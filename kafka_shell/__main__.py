"""`python -m kafka_shell`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current directory, whose files must not be imported

from kafka_shell.app import main

sys.exit(main())
