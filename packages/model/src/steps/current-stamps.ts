import type { DocumentBody } from '../body.ts'
import { shapeStamp } from '../canvas/shape-stamp.ts'
import type { JsonObject } from '../json.ts'
import { blockStamp } from '../prose/block-stamp.ts'
import { blockId, idBearing } from '../prose/blocks.ts'
import { pageTree } from '../prose/page.ts'
import { readStampedId, type Stamp, stampedId } from '../stamps/stamp.ts'

/** The stamps of what has an id. */
type StampsOf = (id: string) => readonly Stamp[]

/**
 * What stands for the ids of a step: one whose stamp is that of before the call, and whose block or shape an earlier step changed, gets the stamp
 * that this has now. It does not lose it, since a stamp also says that the caller saw the block alone, and not what is removed along with it.
 * `pageIds`: the pages that the step names; empty: any. [AG-27, AG-56]
 */
export function currentStamps(before: DocumentBody, now: DocumentBody, pageIds: readonly string[]): (id: string) => string {
  if (before === now) return (id) => id
  const kinds = [shapeStamps, blockStamps].map((stamps) => [stamps(before, pageIds), stamps(now, pageIds)] as const)
  return (text) => {
    const stamped = readStampedId(text)
    // A handle finds its block by the stamp alone.
    if (stamped === null || stamped.id.startsWith('@')) return text
    const { id, stamp } = stamped
    const found = kinds.find(([were]) => were(id).includes(stamp))
    if (found === undefined) return text
    const [, are] = found
    const [current, ...others] = are(id)
    if (current === stamp || others.includes(stamp) || are(text).length > 0) return text
    // What is gone or there twice is for the tool to tell.
    return current === undefined || others.length > 0 ? id : stampedId(id, current)
  }
}

/** Shapes have their ids on one page. */
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

/** Blocks keep their ids when a step moves them to another page. */
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
