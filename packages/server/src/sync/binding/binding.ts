import type { DocumentBody } from '@docrelay/model/body'
import { EMPTY_BODY } from '@docrelay/model/body-parse'
import type { Json } from '@docrelay/model/json'
import type * as Y from 'yjs'
import { project } from './binding-project.ts'
import { reconcile, setEntry } from './binding-reconcile.ts'
import { isUntouched, METADATA, metadataOf } from './binding-roots.ts'
import { isWireOf, readValue } from './binding-values.ts'

/** What the rest of `sync` uses of the binding between bodies and live documents. */
export { ProjectionCache } from './binding-cache.ts'
export { removeDoubledProse } from './binding-doubled.ts'
export { project } from './binding-project.ts'
export { reconcile } from './binding-reconcile.ts'
export { seed } from './binding-seed.ts'

/**
 * Makes a live document that lacks changes of the stored body say what the body says, by edits on its state and never by a fresh one.
 * [YDOC-8, YDOC-9, LIFE-15] Only for a body that contains every logged change: those that it lacks would be undone.
 */
export function catchUp(ydoc: Y.Doc, stored: DocumentBody, origin: unknown, titleChangedAtMs?: number): void {
  const { references } = stored
  // A style alone makes no references, so there must be some for the live style to be read.
  const blank = references?.kind === 'references' ? { ...references, items: new Map(), order: [], members: {} } : undefined
  reconcile(ydoc, project(ydoc, { ...EMPTY_BODY, references: blank }), stored, origin, titleChangedAtMs)
}

/**
 * Puts the body's title and tags back into the live document when what stands there is older than the last title change made elsewhere.
 * Called before projecting; answers whether it wrote. [YDOC-7]
 */
export function refuseStaleTitle(ydoc: Y.Doc, stored: DocumentBody, titleChangedAtMs: number, origin: unknown): boolean {
  if (isUntouched(ydoc, METADATA)) return false
  const metadata = ydoc.getMap(METADATA)
  const updatedAt = readValue(metadata.get('updatedAt'))
  if (typeof updatedAt !== 'number' || updatedAt >= titleChangedAtMs) return false
  const wanted: ReadonlyMap<string, Json> = metadataOf(stored)
  const stale = ['title', 'tags'].filter((name) => !isWireOf(readValue(metadata.get(name)), wanted.get(name)))
  if (stale.length === 0) return false
  ydoc.transact(() => {
    for (const name of stale) setEntry(metadata, name, wanted.get(name))
    metadata.set('updatedAt', titleChangedAtMs)
  }, origin)
  return true
}
