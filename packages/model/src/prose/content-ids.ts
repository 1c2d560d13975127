import { readStampedId, type Stamp } from '../stamps/stamp.ts'
import { blockId, idsOf, isIdBearing, mapIdBearing, withBlockId } from './blocks.ts'
import { readHandle } from './handles.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

const OWN_FORM = /^blk-[A-Za-z0-9_-]{1,64}(#[0-9A-Za-z]{4})?$/
/** What an answer prints for an id that an editor made. [AG-12] */
const PRINTED_FORM = /^[A-Za-z0-9_.:-]{1,64}#[0-9A-Za-z]{4}$/

/**
 * Whether a call's content may bring this id: `blk-` and 1 to 64 characters, and a stamp if it likes; or any id as an answer printed it,
 * with its stamp. [PROSE-46, AG-16]
 */
export function isCallId(id: unknown): boolean {
  const text = String(id).slice(0, 80)
  return OWN_FORM.test(text) || PRINTED_FORM.test(text)
}

/** Content without ids of editors that no block of the stored page has: only the relay's own form may be new. [PROSE-46] */
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
 * What a comment says of the block behind it: its id, perhaps with a stamp; `null` for the name of a block that brings no id, such as a handle;
 * `undefined` for any other comment. [AG-16]
 */
export function nameInComment(comment: string): string | null | undefined {
  const name = /^\s*([^\s<>]{1,200})\s*$/.exec(comment)?.[1]
  if (name === undefined) return undefined
  if (isCallId(name)) return name
  const bare = readStampedId(name)?.id ?? name
  return readHandle(bare) !== null || bare !== name ? null : undefined
}

/** The same for an HTML comment that is all there is in a text. */
export function nameInCommentTag(html: string): string | null | undefined {
  const [, comment] = /^\s*<!--(.*?)-->\s*$/s.exec(html) ?? []
  return comment === undefined ? undefined : nameInComment(comment)
}

/** Gives a block the id of the comment before it, unless it has one of its own. `name`: of `nameInComment`. [AG-16] */
export function withCommentId(node: ProseNode, name: string | null | undefined): ProseNode {
  if (typeof name !== 'string' || !isIdBearing(node) || blockId(node as ProseElement) !== null) return node
  return withBlockId(node as ProseElement, name)
}

/** Content with plain ids, and the stamps that they had. */
export interface PlainIds {
  readonly tree: ProseTree
  /** What the caller saw of a block before it wrote the content, by id. Nothing of it is stored. Absent: no id had one. [AG-16, AG-25] */
  readonly stamps?: ReadonlyMap<string, Stamp>
}

/** Those ids of a stored page that look like an id with a stamp, since an editor may write any text as an id. [AG-6] */
export function stampLikeIds(stored: ProseTree): ReadonlySet<string> {
  return new Set([...idsOf(stored)].filter((id) => id.includes('#') && readStampedId(id) !== null))
}

/** Takes the stamps off the ids of content. An id in `whole` is one as it stands. [AG-6, AG-16] */
export function plainIds(tree: ProseTree, whole: ReadonlySet<string> = new Set()): PlainIds {
  const claims = new Map<string, Stamp | null>()
  const plain = mapIdBearing(tree, (block) => {
    const given = blockId(block)
    if (given === null) return block
    const stamped = whole.has(given) ? null : readStampedId(given)
    const { id, stamp } = stamped ?? { id: given, stamp: null }
    // A stored page may have an id twice. Then a stamp behind it does not say which of the blocks was seen.
    claims.set(id, claims.has(id) && claims.get(id) !== stamp ? null : stamp)
    return stamp === null ? block : withBlockId(block, id)
  })
  if (plain === tree) return { tree }
  const stamps = new Map([...claims].flatMap(([id, stamp]) => (stamp === null ? [] : [[id, stamp] as const])))
  return { tree: plain, stamps }
}
