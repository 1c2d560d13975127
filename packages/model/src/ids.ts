const MAX_ID_BYTES = 256

/** Returns why the id of a page, shape or reference, or the name of a field, breaks BODY-11; `null` when it does not. */
export function idFlaw(id: string): string | null {
  if (id === '') return 'an id is empty'
  // UTF-8 is at most three bytes per UTF-16 unit, so short ids need no encoding.
  if (id.length * 3 > MAX_ID_BYTES && new TextEncoder().encode(id).length > MAX_ID_BYTES)
    return `an id is longer than ${MAX_ID_BYTES} bytes`
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i)
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return 'an id has a control character'
  }
  return null
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Makes an id for an entry without id. [BODY-4] The id is computed from the entry and its place, so a PUT that is sent
 * again after a lost answer gives the same ids and merges with itself. The id is never one of `taken`.
 */
export function derivedId(prefix: 'page-' | 'shape-', content: string, taken: { has(id: string): boolean }): string {
  const length = prefix === 'page-' ? 12 : 10
  for (let salt = 0; ; salt++) {
    let state = fnv1a(`${salt}:${content}`)
    let id: string = prefix
    for (let i = 0; i < length; i++) {
      state = mix(state + i)
      id += ALPHABET[state % ALPHABET.length]
    }
    if (!taken.has(id)) return id
  }
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
