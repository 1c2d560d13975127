import { createHash } from 'node:crypto'
import type { DocumentBody } from '@docrelay/model/body'
import type { Json } from '@docrelay/model/json'
import type * as Y from 'yjs'
import { canonicalHtml, contentTree, hasContent } from './binding-prose.ts'
import {
  CANVAS_PAGES,
  canvasEntries,
  containerRecords,
  FIELDS,
  isUntouched,
  METADATA,
  metadataOf,
  PROSE_PAGES,
  proseEntries,
  proseRoot,
  type Records,
  REFERENCES,
  type RecordRoots,
  shapeRecords,
  shapeRoots,
} from './binding-roots.ts'
import { wireValue } from './binding-values.ts'
import { fillFragment } from '../prose/prose-fragment.ts'

/** A root for which the body has content. */
interface Seed {
  readonly root: string
  /** Text that contains everything the root gets, in the order of writing. */
  readonly content: string
  readonly fill: (ydoc: Y.Doc) => void
}

/**
 * Fills every root that never held anything with its content from the body, in one transaction. Returns the filled roots. [YDOC-9]
 *
 * Each root is written under a client id derived from its name and content. Two nodes that seed the same body therefore produce the same
 * bytes, and their updates count once. When the document already has structs of that id, the root is written under the document's own id.
 * [YDOC-12]
 */
export function seed(ydoc: Y.Doc, body: DocumentBody, origin: unknown = null, titleChangedAtMs?: number): ReadonlySet<string> {
  const seeds = missingSeeds(ydoc, body, titleChangedAtMs)
  if (seeds.length > 0) ydoc.transact(() => seeds.forEach((missing) => plant(ydoc, missing)), origin)
  return new Set(seeds.map(({ root }) => root))
}

function plant(ydoc: Y.Doc, missing: Seed): void {
  const own = ydoc.clientID
  const drawn = seedClientId(missing.root, missing.content)
  // Yjs gives new structs the current client id of the document.
  if (!ydoc.store.clients.has(drawn)) ydoc.clientID = drawn
  try {
    missing.fill(ydoc)
  } finally {
    ydoc.clientID = own
  }
}

/** Returns the first eight bytes, little-endian, of SHA-256(root name, 0x1F, content), masked to 53 bits. [YDOC-9] */
export function seedClientId(root: string, content: string): number {
  const digest = createHash('sha256').update(root, 'utf8').update('\x1f').update(content, 'utf8').digest()
  return Number(digest.readBigUInt64LE(0) & 0x1f_ffff_ffff_ffffn)
}

function missingSeeds(ydoc: Y.Doc, body: DocumentBody, titleChangedAtMs: number | undefined): readonly Seed[] {
  const seeds = [
    ...metadataSeeds(body, titleChangedAtMs),
    ...recordSeeds(ydoc, REFERENCES, containerRecords(body.references)),
    ...recordSeeds(ydoc, FIELDS, containerRecords(body.fields)),
    ...recordSeeds(ydoc, CANVAS_PAGES, canvasEntries(body.canvas.pages)),
    ...recordSeeds(ydoc, PROSE_PAGES, proseEntries(body.prose.pages)),
  ]
  for (const page of body.canvas.pages) {
    if (isListed(ydoc, CANVAS_PAGES, page.id)) seeds.push(...recordSeeds(ydoc, shapeRoots(page.id), shapeRecords(page)))
  }
  for (const page of body.prose.pages) {
    const root = proseRoot(page.id)
    if (!isListed(ydoc, PROSE_PAGES, page.id) || !isUntouched(ydoc, root) || !hasContent(page.content)) continue
    const fill = (target: Y.Doc): void => fillFragment(target.getXmlFragment(root), contentTree(page.content))
    seeds.push({ root, content: canonicalHtml(page.content), fill })
  }
  return seeds.filter(({ root }) => isUntouched(ydoc, root))
}

/** Whether a page of the body is in the live list, or will be because the list is seeded too. [YDOC-5] */
function isListed(ydoc: Y.Doc, roots: RecordRoots, pageId: string): boolean {
  return isUntouched(ydoc, roots.map) || ydoc.getMap(roots.map).has(pageId)
}

function metadataSeeds(body: DocumentBody, titleChangedAtMs: number | undefined): readonly Seed[] {
  const entries = new Map<string, Json>(metadataOf(body))
  const createdAt = body.members.get('createdAt')
  if (typeof createdAt === 'number' && Number.isInteger(createdAt)) entries.set('createdAt', createdAt)
  if (titleChangedAtMs !== undefined) entries.set('updatedAt', titleChangedAtMs)
  return entries.size === 0 ? [] : [mapSeed(METADATA, entries)]
}

function recordSeeds(ydoc: Y.Doc, roots: RecordRoots, records: Records): readonly Seed[] {
  if (records.items.size === 0 || !isUntouched(ydoc, roots.map)) return []
  const content = JSON.stringify(records.order)
  const fill = (target: Y.Doc): void => target.getArray(roots.order).insert(0, [...records.order])
  return [mapSeed(roots.map, records.items), { root: roots.order, content, fill }]
}

function mapSeed(root: string, items: ReadonlyMap<string, Json>): Seed {
  const entries = [...items].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([id, value]): [string, Json] => [id, wireValue(value)])
  const fill = (target: Y.Doc): void => {
    const map = target.getMap(root)
    for (const [id, value] of entries) map.set(id, value)
  }
  return { root, content: JSON.stringify(entries), fill }
}
