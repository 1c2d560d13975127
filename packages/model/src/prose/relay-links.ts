import { readStampedId } from '../stamps/stamp.ts'

/** The target of a link inside the relay: a document, and optionally a page and a block of it. [AG-83] */
export interface RelayLink {
  readonly docId: string
  readonly pageId?: string
  readonly blockId?: string
}

const FORM = /^relay:\/\/doc\/([^/?#\s]+)(?:\/page\/([^/?#\s]+))?(?:#(\S+))?$/i
const MAX_LENGTH = 2048

/** Reads `relay://doc/<id>`, with or without `/page/<pageId>` and `#<blockId>`; `null` for other text. A stamp of the block is left out. */
export function readRelayLink(url: string): RelayLink | null {
  if (url.length > MAX_LENGTH) return null
  const match = FORM.exec(url)
  if (match === null) return null
  const [docId, pageId, block] = match
    .slice(1)
    .map((part: string | undefined) => (part === undefined ? undefined : decoded(part)))
  if (docId === null || docId === undefined || pageId === null || block === null) return null
  const blockId = block === undefined ? undefined : (readStampedId(block)?.id ?? block)
  return { docId, ...(pageId !== undefined && { pageId }), ...(blockId !== undefined && { blockId }) }
}

/** Writes a link in its only form. A page id that ends in `.svg` is escaped, so that the link does not name the picture of a page. [RES-4] */
export function writeRelayLink({ docId, pageId, blockId }: RelayLink): string {
  const page = pageId === undefined ? '' : `/page/${encoded(pageId).replace(/\.(?=svg$)/i, '%2E')}`
  return `relay://doc/${encoded(docId)}${page}${blockId === undefined ? '' : `#${encoded(blockId)}`}`
}

/** Removes the stamp from the block id in a heading link. [PROSE-19] */
export function withoutStamp(headingLink: string): string {
  return headingLink.replace(/(\/id:[^/\s]+?)(?:#|%23)[0-9a-hjkmnp-tv-z]{4}$/i, '$1')
}

/** Returns the stored form of a link from a call or an editor; `null` for other text. A stored link is returned unchanged. */
export function relayHref(url: string): string | null {
  const link = readRelayLink(url)
  const href = link === null ? null : writeRelayLink(link)
  return href === null || href.length > MAX_LENGTH ? null : href
}

/** Decodes a percent-encoded part; `null` for malformed text, and for text that cannot be encoded again, such as half of a character. */
function decoded(part: string): string | null {
  try {
    const text = decodeURIComponent(part)
    return encodeURIComponent(text) === '' ? null : text
  } catch {
    return null
  }
}

function encoded(part: string): string {
  return encodeURIComponent(part)
}
