"""`python -m kafka_shell`."""

import sys

from kafka_shell.app import main

sys.exit(main())
