#!/usr/bin/env python3
"""Converts gitleaks' config/gitleaks.toml to rules.json, with the keys that this program reads:

convert.py gitleaks.toml >rules.json

JSON is read by the standard library; a TOML library adds 0.4 MB to the program for this one file."""

import json
import sys
import tomllib

KEYS = ("id", "regex", "path", "keywords", "entropy", "secretGroup")

with open(sys.argv[1], "rb") as file:
    rules = tomllib.load(file)["rules"]
rows = [{key: rule[key] for key in KEYS if key in rule} for rule in rules]
print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")
