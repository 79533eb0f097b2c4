#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: rank.sh RANK 'SHELL COMMANDS' PROGRAM [ARGUMENT...]
# Starts PROGRAM; as rank RANK of the job it first does what the commands say (limits, variables; "$@" is the command line).
rank=$1
commands=$2
shift 2
if [ "${OMPI_COMM_WORLD_RANK:-0}" = "$rank" ]; then eval "$commands"; fi
exec "$@"
