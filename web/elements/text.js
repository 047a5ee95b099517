// Sentences with numbers in them, in the language of the place where they stand.

/**
 * A text: a sentence with `{names}` in it, one for each plural category of `{count}`, or a function that writes it.
 * @typedef {string | { other: string, [category: string]: string } | ((values: Record<string, any>) => string)} Text
 */

/** The language of the place of an element, one that Intl knows; undefined: the browser's. @param {Element} element */
export function localeOf(element) {
  const { host } = /** @type {ShadowRoot} */ (element.getRootNode());
  const said = /** @type {HTMLElement | null} */ (element.closest('[lang]') ?? host?.closest('[lang]'));
  try {
    return Intl.getCanonicalLocales(said?.lang || undefined)[0];
  } catch {
    return undefined;
  }
}

/**
 * @param {Text} text
 * @param {Record<string, any>} values numbers are written as the language writes them
 * @param {string | undefined} locale
 */
export function write(text, values, locale) {
  if (typeof text === 'function') return String(text(values));
  const sentence = typeof text === 'string' ? text : text[new Intl.PluralRules(locale).select(values.count)] ?? text.other;
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = Object.hasOwn(values, name) ? values[name] : whole;
    return typeof value === 'number' ? value.toLocaleString(locale) : value;
  });
}
