import type { DocumentBody } from '@docrelay/model/body'
import { EMPTY_BODY } from '@docrelay/model/body-parse'
import type { Json } from '@docrelay/model/json'
import type * as Y from 'yjs'
import { project } from './binding-project.ts'
import { reconcile, setEntry } from './binding-reconcile.ts'
import { isUntouched, METADATA, metadataOf } from './binding-roots.ts'
import { isWireOf, readValue } from './binding-values.ts'

/** The functions of the binding between bodies and live documents that the rest of `sync` uses. */
export { ProjectionCache } from './binding-cache.ts'
export { removeDoubledProse } from './binding-doubled.ts'
export { project } from './binding-project.ts'
export { reconcile } from './binding-reconcile.ts'
export { seed } from './binding-seed.ts'

/**
 * Edits a live document that lacks changes of the stored body until it has the content of the body, without replacing its state. Call it
 * only with a body that contains every logged change, because logged changes that the body lacks are undone. [YDOC-8, YDOC-9, LIFE-15]
 */
export function catchUp(ydoc: Y.Doc, stored: DocumentBody, origin: unknown, titleChangedAtMs?: number): void {
  const { references } = stored
  // The live style is only read when the body has references, so an empty container is added.
  const blank = references?.kind === 'references' ? { ...references, items: new Map(), order: [], members: {} } : undefined
  reconcile(ydoc, project(ydoc, { ...EMPTY_BODY, references: blank }), stored, origin, titleChangedAtMs)
}

/**
 * Writes the title and tags of the body into the live document when the live title and tags are older than the last title change that was
 * made outside of it. Call it before projecting. Returns whether it wrote. [YDOC-7]
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
