/* What the machine can do at best: loops that only read. Benches set them beside what Tamp does to the same bytes in
 * the same engine. Built with vectors by `make bench`; nothing of it ships. */
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

extern uint8_t __heap_base[];

/* Where the bytes go; the caller makes the memory large enough. */
__attribute__((export_name("at"))) uint8_t *scan_at(void) {
  return __heap_base;
}

static size_t vectors(size_t length) {
  return length / sizeof(v128_t);
}

/* Every byte is read and added up. */
__attribute__((export_name("bare"))) uint32_t scan_bare(size_t length) {
  const v128_t *at = (const v128_t *)(const void *)__heap_base;
  v128_t sum = wasm_i32x4_splat(0);
  for (size_t i = 0; i < vectors(length); i++) sum = wasm_i32x4_add(sum, wasm_v128_load(at + i));
  return (uint32_t)wasm_i32x4_extract_lane(sum, 0) ^ (uint32_t)wasm_i32x4_extract_lane(sum, 3);
}

/* Every bracket, quote and backslash is found and counted: the least that looking for the ends of records takes. */
__attribute__((export_name("brackets"))) uint32_t scan_brackets(size_t length) {
  const v128_t *at = (const v128_t *)(const void *)__heap_base;
  const v128_t fold = wasm_i8x16_splat(0x20), open = wasm_i8x16_splat('{'), close = wasm_i8x16_splat('}');
  const v128_t quote = wasm_i8x16_splat('"'), backslash = wasm_i8x16_splat('\\');
  uint32_t count = 0;
  for (size_t i = 0; i < vectors(length); i++) {
    const v128_t bytes = wasm_v128_load(at + i);
    const v128_t folded = wasm_v128_or(bytes, fold);
    const v128_t brackets = wasm_v128_or(wasm_i8x16_eq(folded, open), wasm_i8x16_eq(folded, close));
    const v128_t marks = wasm_v128_or(wasm_i8x16_eq(bytes, quote), wasm_i8x16_eq(bytes, backslash));
    count += (uint32_t)__builtin_popcount(wasm_i8x16_bitmask(wasm_v128_or(brackets, marks)));
  }
  return count;
}
