/** With the flag `u`, `\p{Surrogate}` matches only lone surrogates. */
const UNSTORABLE = /^\\|\0|\p{Surrogate}/u

/**
 * Converts any JavaScript string into text that both engines store and return unchanged: PostgreSQL refuses NUL, and neither engine keeps a
 * lone surrogate. Ordinary strings are stored unchanged. Other strings, and those that begin with a backslash, are stored as a backslash
 * followed by the JSON string.
 */
export function storedText(value: string): string {
  return UNSTORABLE.test(value) ? `\\${JSON.stringify(value)}` : value
}

export function originalText(stored: string): string {
  return stored.startsWith('\\') ? String(JSON.parse(stored.slice(1))) : stored
}
