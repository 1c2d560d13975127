import { badRequest, readMembers } from '../kernel/bad-request.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Provenance } from './blob-ledger.port.ts'

export interface IngestRequest {
  readonly url: URL
  readonly authorization: string | null
  /** Returns the type of the blob, given the type that the source announces. */
  readonly typeOf: (announced: string | null) => string | null
  readonly provenance: Provenance | null
}

const MAX_URL_CHARACTERS = 8192
const MAX_AUTHORIZATION_BYTES = 8192
const MAX_SOURCE_BYTES = 2048
const MAX_TAGS = 32
const MAX_TAG_BYTES = 256

/** Reads the body of an ingest-from-url request; everything except the URL is optional. Throws BAD_URL or BAD_REQUEST. [BLOB-17] */
export function readIngestRequest(json: unknown): IngestRequest {
  const { url, authorization, mimeType, source, tags } = readMembers(json)
  const type = readText(mimeType, 'mimeType', null)
  return {
    ...readTarget({ url, authorization }),
    typeOf: () => type,
    provenance: provenanceOf(readText(source, 'source', MAX_SOURCE_BYTES), readTags(tags)),
  }
}

/** Reads the URL to fetch and the credential for it. Throws BAD_URL or BAD_REQUEST. [BLOB-17] */
export function readTarget(given: {
  readonly url: unknown
  readonly authorization: unknown
}): Pick<IngestRequest, 'url' | 'authorization'> {
  return {
    url: readUrl(given.url),
    authorization: readAuthorization(readText(given.authorization, 'authorization', MAX_AUTHORIZATION_BYTES)),
  }
}

function readUrl(value: unknown): URL {
  if (typeof value !== 'string') throw badUrl('The member url is text.')
  if (value.length > MAX_URL_CHARACTERS) throw badUrl(`The member url has at most ${MAX_URL_CHARACTERS} characters.`)
  const url = URL.parse(value)
  if (url === null || url.protocol !== 'https:') throw badUrl('The member url is an https URL.')
  return url
}

/** Refuses a value that cannot be sent in a header. The error says so here, and never shows the value. */
function readAuthorization(value: string | null): string | null {
  if (value === null || /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value
  throw badRequest('authorization', 'The member authorization is text that can stand in a header.')
}

function readText(value: unknown, field: string, maxBytes: number | null): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') throw badRequest(field, `The member ${field} is text.`)
  if (maxBytes === null || Buffer.byteLength(value) <= maxBytes) return value
  throw badRequest(field, `The member ${field} has at most ${maxBytes} bytes.`, { limit: maxBytes })
}

function readTags(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw badRequest('tags', 'The member tags is a list of texts.')
  if (value.length > MAX_TAGS) throw badRequest('tags', `The member tags has at most ${MAX_TAGS} entries.`, { limit: MAX_TAGS })
  return value.map((tag: unknown, index) => {
    const field = `tags[${index}]`
    if (typeof tag !== 'string') throw badRequest(field, `The entry ${field} is text.`)
    return readText(tag, field, MAX_TAG_BYTES) ?? ''
  })
}

function provenanceOf(source: string | null, tags: readonly string[]): Provenance | null {
  return source === null && tags.length === 0 ? null : { source: source ?? '', tags }
}

function badUrl(message: string): RelayError {
  return new RelayError('BAD_URL', message, { field: 'url' })
}
