import { doiKey } from '@docrelay/model/references/doi'
import { referenceIdFlaw } from '@docrelay/model/references/reference-library'

/**
 * Returns the URL at which a DOI is looked up, below the configured base. Slashes are kept, as resolvers expect, unless a part is empty, `.` or `..`:
 * such parts would change the path. [REF-10]
 */
export function doiUrl(base: URL, doi: string): URL {
  const parts = doi.split('/')
  const isPath = parts.every((part) => part !== '' && part !== '.' && part !== '..')
  const encoded = parts.map(encodeURIComponent).join(isPath ? '/' : '%2F')
  return new URL(`${base.origin}${base.pathname.replace(/\/+$/, '')}/${encoded}`)
}

export type CslItem = Readonly<Record<string, unknown>>

/** Makes an item of the library from a resolver's answer: sets id and DOI, and turns markup in title and abstract into plain text. [REF-12] */
export function cslItemOf(answer: CslItem, doi: string): CslItem {
  const id = referenceIdFlaw(answer['id']) === null ? answer['id'] : doiKey(doi)
  const item: Record<string, unknown> = { ...answer, id, DOI: answer['DOI'] ?? doi }
  for (const name of ['title', 'abstract']) if (typeof item[name] === 'string') item[name] = textOf(item[name])
  return item
}

const BLOCKS = /<\/?(?:jats:)?(?:p|br|sec|title|div|li|list|list-item)(?:\s[^<>]*)?\/?>/gi
const TAGS = /<\/?[a-z][^<>]*>/gi
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

function textOf(markup: string): string {
  return markup
    .replace(BLOCKS, ' ')
    .replace(TAGS, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return isCharacter(code) ? String.fromCodePoint(code) : whole
    })
    .replace(/\s+/g, ' ')
    .trim()
}

/** Whether a code point is a character: not NUL, and no half of a surrogate pair. */
function isCharacter(code: number): boolean {
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
}
