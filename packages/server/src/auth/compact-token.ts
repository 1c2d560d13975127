/** A bearer taken apart. Nothing in it is believed yet. */
export interface CompactToken {
  readonly header: JsonObject
  readonly claims: JsonObject
  /** The received bytes the signature is over. */
  readonly signed: string
  readonly signature: Uint8Array
}

export interface JsonObject {
  readonly members: Readonly<Record<string, unknown>>
  /** A top-level member that is given twice, which parsers read differently; `null` when none is. */
  readonly repeated: string | null
}

const MAX_TOKEN_BYTES = 16 * 1024
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Splits a bearer into its parts, strictly: three non-empty parts of canonical base64url, header and payload UTF-8 JSON objects, at most
 * 16 KiB. [AUTH-2, K2]
 * @returns `null` when it is malformed.
 */
export function parseCompactToken(token: string): CompactToken | null {
  if (token.length > MAX_TOKEN_BYTES) return null
  const parts = token.split('.')
  if (parts.length !== 3) return null
  const [header, claims, signature] = parts.map(decodeBase64url)
  if (!header || !claims || !signature) return null
  const headerObject = parseObject(header)
  const claimsObject = headerObject && parseObject(claims)
  if (!headerObject || !claimsObject) return null
  return { header: headerObject, claims: claimsObject, signed: token.slice(0, token.lastIndexOf('.')), signature }
}

/** Decodes what re-encodes to the same text: no padding, no other alphabet, no stray last bits. `null` also when empty. */
function decodeBase64url(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64url')
  return text !== '' && bytes.toString('base64url') === text ? bytes : null
}

function parseObject(bytes: Uint8Array): JsonObject | null {
  try {
    const text = utf8.decode(bytes)
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return { members: value as Readonly<Record<string, unknown>>, repeated: repeatedMember(text) }
  } catch {
    return null
  }
}

/** `text` is a valid JSON object. Names are compared decoded, so `"exp"` and `"\u0065xp"` are the same. */
function repeatedMember(text: string): string | null {
  const seen = new Set<string>()
  let depth = 0
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[{\]}]/g)) {
    const [lexeme, colon] = token
    if (lexeme === '{' || lexeme === '[') depth++
    else if (lexeme === '}' || lexeme === ']') depth--
    else if (depth === 1 && colon !== undefined) {
      const name = JSON.parse(lexeme.slice(0, -colon.length)) as string
      if (seen.has(name)) return name
      seen.add(name)
    }
  }
  return null
}
