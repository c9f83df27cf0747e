// ICU renames every symbol by a macro, PCRE2 by its code unit width: both need wrappers to be importable.
#ifndef SHELVMPD_CTEXT_H
#define SHELVMPD_CTEXT_H
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <unicode/ucol.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utrans.h>
#endif
