/** The parts of a bearer token. None of it is verified yet. */
export interface CompactToken {
  readonly header: JsonObject
  readonly claims: JsonObject
  /** The received bytes that the signature covers. */
  readonly signed: string
  readonly signature: Uint8Array
}

export interface JsonObject {
  readonly members: Readonly<Record<string, unknown>>
  /** A top-level member that occurs twice, which parsers read differently; `null` when there is none. */
  readonly repeated: string | null
}

/** Most bytes of a token: those of a whole header block, so a token that fits into a request is never refused for its length. [REST-7] */
const MAX_TOKEN_BYTES = 32 * 1024
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Splits a bearer into its parts, strictly: three parts of canonical base64url (only the signature of `alg: none` may
 * be empty), header and payload are UTF-8 JSON objects, at most 32 KiB. [AUTH-2, K2]
 *
 * @returns `null` when the token is malformed.
 */
export function parseCompactToken(token: string): CompactToken | null {
  if (token.length > MAX_TOKEN_BYTES) return null
  const parts = token.split('.')
  if (parts.length !== 3) return null
  const [header, claims] = parts.map(decodeBase64url)
  if (!header || !claims) return null
  const headerObject = parseObject(header)
  const claimsObject = headerObject && parseObject(claims)
  if (!headerObject || !claimsObject) return null
  // An unsecured token (RFC 7519, 6.1) is refused because of its algorithm, which tells more than "malformed".
  const isUnsecured = parts[2] === '' && headerObject.members['alg'] === 'none'
  const signature = isUnsecured ? new Uint8Array() : decodeBase64url(parts[2] ?? '')
  if (!signature) return null
  return { header: headerObject, claims: claimsObject, signed: token.slice(0, token.lastIndexOf('.')), signature }
}

/**
 * Decodes text that re-encodes to itself: no padding, no other alphabet, no stray last bits. `null` for other text and
 * for empty text.
 */
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

/**
 * Returns the name of a top-level member that occurs twice, or `null`. `text` must be a valid JSON object. Names are compared after decoding, so
 * `"exp"` and `"\u0065xp"` are the same name.
 */
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
