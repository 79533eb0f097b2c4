#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/set_version.py VERSION [DATE] | --check

Makes a release of what is [Unreleased]: writes the version wherever it stands, and gives CHANGELOG.md a heading with it and the date
(today's, unless another one is named). --check: exits 1 if the places do not agree, and says which."""

import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERSION = r"\d+\.\d+\.\d+"
SONAME = r"\d+\.\d+"  # the first two numbers
# Each file with the version: what stands before it, and how much of it is there.
PLACES = {
    "CMakeLists.txt": (r"project\(papfft VERSION ", VERSION),
    "docs/reference/file-formats.md": (r'"papfft": "', VERSION),
    "packaging/README.md": (r"easybuild/papfft-", VERSION),
    "packaging/easybuild/papfft-*-foss-2023a.eb": (r"version = '", VERSION),
    "packaging/spack/packages/papfft/package.py": (r'(?:papfft-|version\(")', VERSION),
    "tests/install/abi/libpapfft_comm.txt": (r"soname libpapfft_comm\.so\.", SONAME),
    "tests/install/abi/libpapfft_fft.txt": (r"soname libpapfft_fft\.so\.", SONAME),
}


def file_of(pattern):
    (file,) = ROOT.glob(pattern)
    return file


def found():
    """@return what stands in each file and in the name of the recipe, and how much of a version that is"""
    versions = {place: (set(re.findall(before + f"({form})", file_of(place).read_text())), form) for place, (before, form) in PLACES.items()}
    recipe = file_of("packaging/easybuild/*.eb").name
    versions[f"the name of {recipe}"] = (set(re.findall(VERSION, recipe)), VERSION)
    return versions


def check():
    versions = found()
    ((project,), _) = versions["CMakeLists.txt"]
    wrong = [f"{place} has {', '.join(sorted(has)) or 'no version'}" for place, (has, form) in versions.items()
             if has != {re.match(form, project)[0]}]
    for line in wrong:
        print(f"{line}, and CMakeLists.txt {project}", file=sys.stderr)
    return 1 if wrong else 0


def release(version, date):
    change_log = ROOT / "CHANGELOG.md"
    text = change_log.read_text()
    if text.count("## [Unreleased]\n") != 1 or f"## [{version}]" in text:
        sys.exit(f"set_version.py: CHANGELOG.md must have one heading [Unreleased] and none [{version}]")
    change_log.write_text(text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {date}\n"))
    for place, (before, form) in PLACES.items():
        file = file_of(place)
        file.write_text(re.sub(f"({before}){form}", rf"\g<1>{re.match(form, version)[0]}", file.read_text()))
    recipe = file_of("packaging/easybuild/*.eb")
    recipe.rename(recipe.with_name(re.sub(VERSION, version, recipe.name)))
    subprocess.run(["git", "-C", ROOT, "diff", "--stat"], check=False)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        return check()
    if len(arguments) not in (1, 2) or not re.fullmatch(VERSION, arguments[0]):
        print(__doc__, file=sys.stderr)
        return 64
    release(arguments[0], datetime.date.fromisoformat(arguments[1]) if len(arguments) == 2 else datetime.date.today())
    return check()


if __name__ == "__main__":
    sys.exit(main())
