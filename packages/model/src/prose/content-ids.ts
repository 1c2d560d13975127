import { readStampedId, type Stamp } from '../stamps/stamp.ts'
import { blockId, idsOf, isIdBearing, mapIdBearing, withBlockId } from './blocks.ts'
import { readHandle } from './handles.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

const OWN_FORM = /^blk-[A-Za-z0-9_-]{1,64}(#[0-9A-Za-z]{4})?$/
/** The form in which answers print an id that an editor made, with its stamp. [AG-12] */
const PRINTED_FORM = /^[A-Za-z0-9_.:-]{1,64}#[0-9A-Za-z]{4}$/

/**
 * Whether the content of a call may have this id: `blk-` and 1 to 64 characters, with or without a stamp, or any id with its stamp as an answer prints it.
 * [PROSE-46, AG-16]
 */
export function isCallId(id: unknown): boolean {
  const text = String(id).slice(0, 80)
  return OWN_FORM.test(text) || PRINTED_FORM.test(text)
}

/** Removes ids of foreign form that no block of the stored page has: only ids in the form of the relay may be new. [PROSE-46] */
export function withKnownIds(content: ProseTree, stored: ProseTree): ProseTree {
  let known: ReadonlySet<string> | undefined
  return mapIdBearing(content, (block) => {
    const id = blockId(block)
    if (id === null || OWN_FORM.test(id)) return block
    known ??= new Set(idsOf(stored))
    return known.has(id) ? block : withBlockId(block, null)
  })
}

/**
 * Reads the name of a block in a comment before it. Returns the id, with its stamp if any; `null` for a name that is no id, such as a handle; `undefined` for
 * any other comment. [AG-16]
 */
export function nameInComment(comment: string): string | null | undefined {
  const name = /^\s*([^\s<>]{1,200})\s*$/.exec(comment)?.[1]
  if (name === undefined) return undefined
  if (isCallId(name)) return name
  const bare = readStampedId(name)?.id ?? name
  return readHandle(bare) !== null || bare !== name ? null : undefined
}

/** Like `nameInComment`, for a text that is one HTML comment; `undefined` for any other text. */
export function nameInCommentTag(html: string): string | null | undefined {
  const [, comment] = /^\s*<!--(.*?)-->\s*$/s.exec(html) ?? []
  return comment === undefined ? undefined : nameInComment(comment)
}

/** Gives a block the id of the comment before it, unless the block has an id. `name` is a result of `nameInComment`. [AG-16] */
export function withCommentId(node: ProseNode, name: string | null | undefined): ProseNode {
  if (typeof name !== 'string' || !isIdBearing(node) || blockId(node as ProseElement) !== null) return node
  return withBlockId(node as ProseElement, name)
}

/** Content with plain ids, and the stamps that these ids had. */
export interface PlainIds {
  readonly tree: ProseTree
  /** The stamps by id: which content of a block the caller had seen. Never stored. Absent when no id had a stamp. [AG-16, AG-25] */
  readonly stamps?: ReadonlyMap<string, Stamp>
}

/** Returns the ids of a stored page that look like an id with a stamp. Editors may write any text as an id. [AG-6] */
export function stampLikeIds(stored: ProseTree): ReadonlySet<string> {
  return new Set([...idsOf(stored)].filter((id) => id.includes('#') && readStampedId(id) !== null))
}

/** Removes the stamps from the ids of content, but leaves the ids in `whole` as they are. [AG-6, AG-16] */
export function plainIds(tree: ProseTree, whole: ReadonlySet<string> = new Set()): PlainIds {
  const claims = new Map<string, Stamp | null>()
  const plain = mapIdBearing(tree, (block) => {
    const given = blockId(block)
    if (given === null) return block
    const stamped = whole.has(given) ? null : readStampedId(given)
    const { id, stamp } = stamped ?? { id: given, stamp: null }
    // When content has an id twice with different stamps, the stamps do not say which of the blocks was seen, so they are dropped.
    claims.set(id, claims.has(id) && claims.get(id) !== stamp ? null : stamp)
    return stamp === null ? block : withBlockId(block, id)
  })
  if (plain === tree) return { tree }
  const stamps = new Map([...claims].flatMap(([id, stamp]) => (stamp === null ? [] : [[id, stamp] as const])))
  return { tree: plain, stamps }
}
