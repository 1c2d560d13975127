import type { DocumentBody } from '../body.ts'
import { shapeStamp } from '../canvas/shape-stamp.ts'
import type { JsonObject } from '../json.ts'
import { blockStamp } from '../prose/block-stamp.ts'
import { blockId, idBearing } from '../prose/blocks.ts'
import { pageTree } from '../prose/page.ts'
import { readStampedId, type Stamp, stampedId } from '../stamps/stamp.ts'

/** Returns the stamps of the blocks or shapes with an id; usually one, none when the id is gone. */
type StampsOf = (id: string) => readonly Stamp[]

/**
 * Returns a function that updates the ids in a step. When an earlier step changed a block or shape, and the id has the stamp from before the call, the id gets
 * the present stamp. The stamp is not just dropped, since it also says that the caller has seen this block, but not the blocks that are removed along with
 * it. `pageIds` are the pages that the step names; empty for any page. [AG-27, AG-56]
 */
export function currentStamps(before: DocumentBody, now: DocumentBody, pageIds: readonly string[]): (id: string) => string {
  if (before === now) return (id) => id
  const kinds = [shapeStamps, blockStamps].map((stamps) => [stamps(before, pageIds), stamps(now, pageIds)] as const)
  return (text) => {
    const stamped = readStampedId(text)
    // The stamp of a handle stays, since a handle finds its block by the stamp.
    if (stamped === null || stamped.id.startsWith('@')) return text
    const { id, stamp } = stamped
    const found = kinds.find(([were]) => were(id).includes(stamp))
    if (found === undefined) return text
    const [, are] = found
    const [current, ...others] = are(id)
    if (current === stamp || others.includes(stamp) || are(text).length > 0) return text
    // When the id is gone or occurs twice, the tool gets the bare id and refuses the call.
    return current === undefined || others.length > 0 ? id : stampedId(id, current)
  }
}

/** Returns the stamps of shapes by id, on the named pages only, since an id of a shape is unique only within its page. */
function shapeStamps({ canvas }: DocumentBody, pageIds: readonly string[]): StampsOf {
  let byId: Map<string, JsonObject[]> | undefined
  return (id) => {
    if (byId === undefined) {
      byId = new Map()
      for (const { shapes } of canvas.pages.filter(isNamed(pageIds)))
        for (const { id: own, value } of shapes) {
          const same = byId.get(own)
          if (same === undefined) byId.set(own, [value])
          else same.push(value)
        }
    }
    return (byId.get(id) ?? []).map(shapeStamp)
  }
}

/** Returns the stamps of blocks by id: on the named pages, else on any page, since a moved block keeps its id. */
function blockStamps({ prose }: DocumentBody, pageIds: readonly string[]): StampsOf {
  const found = (pages: DocumentBody['prose']['pages'], id: string): readonly Stamp[] =>
    // A page is only parsed when its text contains the id.
    pages.flatMap((page) =>
      page.content.includes(id)
        ? idBearing(pageTree(page).tree).flatMap(({ block }) => (blockId(block) === id ? blockStamp(block) : []))
        : [],
    )
  return (id) => {
    const there = found(prose.pages.filter(isNamed(pageIds)), id)
    return there.length > 0 ? there : found(prose.pages, id)
  }
}

function isNamed(pageIds: readonly string[]): (page: { readonly id: string }) => boolean {
  return ({ id }) => pageIds.length === 0 || pageIds.includes(id)
}
