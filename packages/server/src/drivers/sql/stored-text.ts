/** With the `u` flag a surrogate matches only when it is alone. */
const UNSTORABLE = /^\\|\0|\p{Surrogate}/u

/**
 * Any JavaScript string as text both engines keep and give back unchanged: PostgreSQL refuses NUL, and neither keeps a lone surrogate.
 * Ordinary strings are stored as they are; the rest, and what begins with a backslash, as a backslash and the JSON string.
 */
export function storedText(value: string): string {
  return UNSTORABLE.test(value) ? `\\${JSON.stringify(value)}` : value
}

export function originalText(stored: string): string {
  return stored.startsWith('\\') ? String(JSON.parse(stored.slice(1))) : stored
}
