# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# For Sphinx.  "make docs" lays the sources out and calls it; see scripts/docs.

project = "xverbs"
author = "The xverbs authors"
copyright = "2026, The xverbs authors"
extensions = []
master_doc = "index"
primary_domain = "c"
highlight_language = "none"
html_theme = "alabaster"
