import { longestRising } from '../longest-rising.ts'
import { asCalled } from './as-called.ts'
import { blockId, idsOf, isIdBearing } from './blocks.ts'
import { equalAttrs, equalMarks } from './equal.ts'
import type { ProseAttrs, ProseElement, ProseNode, ProseTree } from './node.ts'

/** Whether a written block has the content of a stored block. Ids that the written block lacks do not count. [PROSE-54] */
export function saysTheSame(stored: ProseNode, written: ProseNode, ids: 'carried' | 'ignored' = 'carried'): boolean {
  if (stored === written) return true
  if (stored.type === 'text' || written.type === 'text')
    return (
      stored.type === 'text' && written.type === 'text' && stored.text === written.text && equalMarks(stored.marks, written.marks)
    )
  if (stored.type !== written.type || stored.content.length !== written.content.length) return false
  if (!saySameAttrs(stored, written, ids)) return false
  return written.content.every((child, i) => saysTheSame(stored.content[i] as ProseNode, child, ids))
}

function saySameAttrs(stored: ProseElement, written: ProseElement, ids: 'carried' | 'ignored'): boolean {
  if (!isIdBearing(written)) return equalAttrs(stored.attrs, written.attrs)
  const id = ids === 'carried' ? blockId(written) : null
  return (id === null || id === blockId(stored)) && equalAttrs(withoutId(stored.attrs), withoutId(written.attrs))
}

function withoutId(attrs: ProseAttrs): ProseAttrs {
  if (!('id' in attrs)) return attrs
  const { id: _, ...others } = attrs
  return others
}

/** A block kept from the stored page: its index in the stored page and in the written page. */
export interface Kept {
  readonly stored: number
  readonly written: number
}

/**
 * Returns the top-level blocks that stay, in order: the common start and end, and between them a longest common subsequence. [PROSE-54] A stored
 * block whose white space no call could express also matches a block with that white space collapsed.
 */
export function keptBlocks(stored: ProseTree, written: ProseTree): readonly Kept[] {
  const pages: Pages = { stored, called: asCalled(stored), written, plain: asCalled(written) }
  const most = Math.min(stored.length, written.length)
  let start = 0
  while (start < most && isSame(pages, start, start)) start++
  let end = 0
  while (end < most - start && isSame(pages, stored.length - 1 - end, written.length - 1 - end)) end++
  const kept: Kept[] = Array.from({ length: start }, (_, i) => ({ stored: i, written: i }))
  const middle = commonMiddle({
    stored: stored.slice(start, stored.length - end),
    called: pages.called.slice(start, stored.length - end),
    written: written.slice(start, written.length - end),
    plain: pages.plain.slice(start, written.length - end),
  })
  for (const pair of middle) kept.push({ stored: pair.stored + start, written: pair.written + start })
  for (let i = end; i > 0; i--) kept.push({ stored: stored.length - i, written: written.length - i })
  return kept
}

/** The stored and the written page, and both with white space collapsed as in calls. */
interface Pages {
  readonly stored: ProseTree
  readonly called: ProseTree
  readonly written: ProseTree
  readonly plain: ProseTree
}

function isSame({ stored, called, written }: Pages, i: number, j: number): boolean {
  const [block, other, said] = [stored[i], called[i], written[j]] as [ProseElement, ProseElement, ProseElement]
  return saysTheSame(block, said) || (other !== block && saysTheSame(other, said))
}

/** Limit of the exact comparison, which needs time and memory for one table cell per pair of blocks. */
const maxCells = 1_000_000

function commonMiddle(pages: Pages): readonly Kept[] {
  const { stored, written } = pages
  if (stored.length === 0 || written.length === 0) return []
  const classes = classify(pages)
  return stored.length * written.length <= maxCells ? longestCommon(classes) : uniqueCommon(classes)
}

/** Blocks as numbers: blocks that are equal apart from ids and collapsible white space have the same number. */
interface Classes {
  readonly stored: readonly number[]
  readonly written: readonly number[]
  same(stored: number, written: number): boolean
}

function classify(pages: Pages): Classes {
  const classOf = classifier()
  const numbers = { stored: pages.called.map(classOf), written: pages.plain.map(classOf) }
  // Only blocks with ids or collapsible white space can differ from a stored block with the same number.
  const saysMore = pages.written.map((block, j) => block !== pages.plain[j] || idsOf([block]).length > 0)
  return {
    ...numbers,
    same: (i, j) => numbers.stored[i] === numbers.written[j] && (saysMore[j] === false || isSame(pages, i, j)),
  }
}

/**
 * At most this many different blocks with the same hash are compared. Further such blocks, which only an attacker makes, count as different from all other
 * blocks.
 */
const maxBucket = 8

function classifier(): (block: ProseElement) => number {
  const buckets = new Map<number, { readonly block: ProseElement; readonly number: number }[]>()
  let count = 0
  return (block) => {
    const hash = hashOf(block, 0)
    const bucket = buckets.get(hash) ?? []
    buckets.set(hash, bucket)
    const known = bucket.find((other) => saysTheSame(other.block, block, 'ignored'))
    if (known !== undefined) return known.number
    if (bucket.length < maxBucket) bucket.push({ block, number: count })
    return count++
  }
}

/** Hashes the shape and text of a node, and the attributes of a node without content. Ids and marks do not count. */
function hashOf(node: ProseNode, seed: number): number {
  const hash = Math.imul(seed ^ node.type.length, hashFactor)
  if (node.type === 'text') return hashText(node.text, hash)
  if (node.content.length === 0 && !isIdBearing(node)) return hashText(Object.values(node.attrs).join(), hash)
  let inner = hash
  for (const child of node.content) inner = hashOf(child, inner)
  return inner ^ node.content.length
}

const hashFactor = 0x01000193

function hashText(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), hashFactor)
  return hash
}

function longestCommon({ stored, written, same }: Classes): readonly Kept[] {
  const width = written.length + 1
  // lengths[i * width + j] is the length of the longest common subsequence of stored[i…] and written[j…].
  const lengths = new Uint32Array((stored.length + 1) * width)
  const lengthAt = (i: number, j: number) => lengths[i * width + j] as number
  for (let i = stored.length - 1; i >= 0; i--)
    for (let j = written.length - 1; j >= 0; j--)
      lengths[i * width + j] = same(i, j) ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
  const kept: Kept[] = []
  for (let i = 0, j = 0; i < stored.length && j < written.length; ) {
    if (same(i, j)) kept.push({ stored: i++, written: j++ })
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++
    else j++
  }
  return kept
}

/** Common blocks of long pages: the longest increasing sequence of blocks that occur exactly once in each page. */
function uniqueCommon({ stored, written, same }: Classes): readonly Kept[] {
  const [once, twice] = [uniques(stored), uniques(written)]
  const pairs: Kept[] = []
  for (const [number, j] of twice) {
    const i = once.get(number)
    if (i !== undefined && same(i, j)) pairs.push({ stored: i, written: j })
  }
  return longestRising(pairs, ({ stored }) => stored)
}

/** The index of each number that occurs exactly once, in order. */
function uniques(classes: readonly number[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (const [index, number] of classes.entries()) places.set(number, places.has(number) ? -1 : index)
  return new Map([...places].filter(([, index]) => index !== -1))
}
