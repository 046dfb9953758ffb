#!/bin/sh
# Starts a worker in a clone of its own: made at the first start of the container, used again after a restart.
set -eu
if [ ! -d .git ]; then git clone "$GIT_REMOTE" .; fi
if [ ! -d .drover ]; then drover init >&2; fi
exec drover worker "$@"
