// SPDX-License-Identifier: MIT
// The files that a command reads, which what it writes must not replace by mistake.
#pragma once
#include <sys/stat.h>

#include <string>

namespace papfft::app::io {

/// Of a program that reads files as its user names them, once, before it reads. Until then, require_no_input() refuses nothing.
void keep_inputs();

/// From now on, require_no_input() refuses this file under any of its names. Passes over what is no regular file. Thread-safe.
void know_input(const struct stat& status);
void know_input(const std::string& path);

/// Of a command that has --force: did the user say it? Then an output may replace an input.
void set_force(bool is_forced);

/// @throws UnsuitableOutput  `path` is a known input
void require_no_input(const std::string& path);

}  // namespace papfft::app::io
