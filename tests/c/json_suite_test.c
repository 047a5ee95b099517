/* The public JSON parsing suite, where the shared data lies beside the repository. */
#include <dirent.h>
#include <stdlib.h>

#include "../../src/json/cursor.h"
#include "test.h"

#define FOLDER "../shared/data/json-parsing"

/* What RFC 8259 leaves open, and what is decided here: any number keeps its spelling and lone
 * surrogate escapes are read, as JSON.parse does both; bytes that are not UTF-8, UTF-16 and a BOM
 * are refused. */
static const char *const open_and_read[] = {
    "i_number_double_huge_neg_exp.json",
    "i_number_huge_exp.json",
    "i_number_neg_int_huge_exp.json",
    "i_number_pos_double_huge_exp.json",
    "i_number_real_neg_overflow.json",
    "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
    "i_object_key_lone_2nd_surrogate.json",
    "i_string_1st_surrogate_but_2nd_missing.json",
    "i_string_1st_valid_surrogate_2nd_invalid.json",
    "i_string_incomplete_surrogate_and_escape_valid.json",
    "i_string_incomplete_surrogate_pair.json",
    "i_string_incomplete_surrogates_escape_valid.json",
    "i_string_invalid_lonely_surrogate.json",
    "i_string_invalid_surrogate.json",
    "i_string_inverted_surrogates_U+1D11E.json",
    "i_string_lone_second_surrogate.json",
    "i_structure_500_nested_arrays.json",
};

static const char *const open_and_refused[] = {
    "i_string_UTF-16LE_with_BOM.json",
    "i_string_UTF-8_invalid_sequence.json",
    "i_string_UTF8_surrogate_U+D800.json",
    "i_string_invalid_utf-8.json",
    "i_string_iso_latin_1.json",
    "i_string_lone_utf8_continuation_byte.json",
    "i_string_not_in_unicode_range.json",
    "i_string_overlong_sequence_2_bytes.json",
    "i_string_overlong_sequence_6_bytes.json",
    "i_string_overlong_sequence_6_bytes_null.json",
    "i_string_truncated-utf-8.json",
    "i_string_utf16BE_no_BOM.json",
    "i_string_utf16LE_no_BOM.json",
    "i_structure_UTF-8_BOM_empty_object.json",
};

static bool is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, names[i]) == 0) return true;
  }
  return false;
}

static uint8_t *read_file(const char *name, size_t *length) {
  char path[512];
  snprintf(path, sizeof path, FOLDER "/%s", name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  size_t capacity = 1 << 20;
  uint8_t *bytes = malloc(capacity);
  *length = bytes == NULL ? 0 : fread(bytes, 1, capacity, file);
  fclose(file);
  /* Cut to size: a sanitizer then sees any byte read behind the end. */
  uint8_t *exact = malloc(*length == 0 ? 1 : *length);
  if (bytes == NULL || exact == NULL) abort();
  memcpy(exact, bytes, *length);
  free(bytes);
  return exact;
}

static TampCursor read_text(const uint8_t *bytes, size_t length) {
  TampCursor cursor = tamp_cursor(bytes, 0, length, false);
  TampValue value;
  if (tamp_cursor_value(&cursor, &value)) tamp_cursor_end(&cursor);
  return cursor;
}

/* What stands before the fault can be completed, and with the byte at it no longer. */
static bool fault_is_first(const uint8_t *bytes, size_t length, TampFault fault) {
  if (fault.offset > length || fault.reason == NULL) return false;
  const TampCursor before = read_text(bytes, fault.offset);
  if (before.status != TAMP_OK && before.fault.offset != fault.offset) return false;
  if (fault.offset == length) return true;
  const TampCursor with = read_text(bytes, fault.offset + 1);
  return with.status != TAMP_OK && with.fault.offset == fault.offset;
}

int main(void) {
  DIR *folder = opendir(FOLDER);
  if (folder == NULL) {
    printf("skipped: there is no " FOLDER "\n");
    return 0;
  }
  TEST("the parsing suite is read and refused as its names say, and open cases as decided");
  int files = 0, open = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    const char *name = entry->d_name;
    const size_t name_length = strlen(name);
    if (name_length < 5 || strcmp(name + name_length - 5, ".json") != 0) continue;
    size_t length = 0;
    uint8_t *bytes = read_file(name, &length);
    if (!CHECK(bytes != NULL)) continue;
    const TampCursor cursor = read_text(bytes, length);
    bool right = true;
    if (name[0] == 'y') {
      right = cursor.status == TAMP_OK;
    } else if (name[0] == 'n') {
      right = cursor.status == TAMP_BAD_JSON || cursor.status == TAMP_TOO_DEEP;
    } else {
      open++;
      right = cursor.status == TAMP_OK
                  ? is_one_of(name, open_and_read, sizeof open_and_read / sizeof *open_and_read)
                  : is_one_of(name, open_and_refused,
                              sizeof open_and_refused / sizeof *open_and_refused);
    }
    if (cursor.status != TAMP_OK) right = right && fault_is_first(bytes, length, cursor.fault);
    if (!CHECK(right)) {
      fprintf(stderr, "  %s: status %d at %zu %s\n", name, (int)cursor.status, cursor.fault.offset,
              cursor.fault.reason == NULL ? "" : cursor.fault.reason);
    }
    files++;
    free(bytes);
  }
  closedir(folder);
  printf("%d files, %d of them open\n", files, open);
  CHECK(files > 300);
  return test_end();
}
