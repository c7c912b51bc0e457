# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What rst2man writes and mandoc does not like: a space below a heading, a font that it does not
# know, and the macros that report rst2man's own indentation.
/^\.(ft C|ft P|fam C|fam|)$/ { next }
/^\.sp$/ && heading { next }
/^\.de1 rstReportMargin/, /^\.\.$/ { next }
/^\.\\" \.?(rstReportMargin|old:|new:|indent)/ { next }
{ print; heading = /^\.(SH|SS|TP|IP)/ }
