import { doiKey } from '@docrelay/model/references/doi'
import { referenceIdFlaw } from '@docrelay/model/references/reference-library'

/**
 * Where a DOI is looked up, below the configured base. Slashes stay, as resolvers expect them, unless the parts would be read as a way up the
 * path. [REF-10]
 */
export function doiUrl(base: URL, doi: string): URL {
  const parts = doi.split('/')
  const isPath = parts.every((part) => part !== '' && part !== '.' && part !== '..')
  const encoded = parts.map(encodeURIComponent).join(isPath ? '/' : '%2F')
  return new URL(`${base.origin}${base.pathname.replace(/\/+$/, '')}/${encoded}`)
}

export type CslItem = Readonly<Record<string, unknown>>

/** A resolver's answer as an item of the library: it can be cited by its id and found by its DOI, and its texts are text. [REF-12] */
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

/** Half of a surrogate pair is none, and neither is NUL. */
function isCharacter(code: number): boolean {
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
}
