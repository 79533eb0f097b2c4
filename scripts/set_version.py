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
# Each file with the version, and what stands before it.
PLACES = {
    "CMakeLists.txt": r"project\(papfft VERSION ",
    "docs/reference/file-formats.md": r'"papfft": "',
    "packaging/README.md": r"easybuild/papfft-",
    "packaging/easybuild/papfft-*-foss-2023a.eb": r"version = '",
    "packaging/spack/packages/papfft/package.py": r'(?:papfft-|version\(")',
}
VERSION = r"\d+\.\d+\.\d+"


def file_of(pattern):
    (file,) = ROOT.glob(pattern)
    return file


def found():
    """@return the versions that stand in each file, and in the name of the recipe"""
    versions = {pattern: set(re.findall(f"{before}({VERSION})", file_of(pattern).read_text())) for pattern, before in PLACES.items()}
    recipe = file_of("packaging/easybuild/*.eb").name
    versions[f"the name of {recipe}"] = set(re.findall(VERSION, recipe))
    return versions


def check():
    versions = found()
    (project,) = versions["CMakeLists.txt"]
    wrong = [f"{place} has {', '.join(sorted(has)) or 'no version'}" for place, has in versions.items() if has != {project}]
    for line in wrong:
        print(f"{line}, and CMakeLists.txt {project}", file=sys.stderr)
    return 1 if wrong else 0


def release(version, date):
    change_log = ROOT / "CHANGELOG.md"
    text = change_log.read_text()
    if text.count("## [Unreleased]\n") != 1 or f"## [{version}]" in text:
        sys.exit(f"set_version.py: CHANGELOG.md must have one heading [Unreleased] and none [{version}]")
    change_log.write_text(text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {date}\n"))
    for pattern, before in PLACES.items():
        file = file_of(pattern)
        file.write_text(re.sub(f"({before}){VERSION}", rf"\g<1>{version}", file.read_text()))
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
