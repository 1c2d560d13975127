import type { DocumentBody } from '../body.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import { nearestNames } from '../nearest.ts'
import { pageName } from '../pages.ts'
import { quote } from '../quote.ts'
import { type PageSight, removedBy } from '../seen/page-sight.ts'
import { anchorFlaw, blockFact, findAnchor, isAnchoredBy, told } from './anchors.ts'
import { blockStamp } from './block-stamp.ts'
import { bareName, namingOf, type Printed } from './block-names.ts'
import { blockId, idBearing, idsOf, isCell, type Located } from './blocks.ts'
import { addressable, blockAt, readHandle } from './handles.ts'
import { pageTree } from './page.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { blockChanged } from './stamped-blocks.ts'
import { readStampedId, type StampedId } from '../stamps/stamp.ts'
import { blockText } from './text.ts'
import { indexOf, parentNode, parentOf, samePath, type Path } from './tree-path.ts'

/** A page whose blocks are addressed, with what is needed to explain why a block is not found. */
export interface TargetPage extends Printed {
  readonly body: DocumentBody
  readonly pageId: string
  readonly tree: ProseTree
  /** Whether the call names the version that it read, so that the place in a handle tells equal blocks apart. [AG-10] */
  readonly isVersionNamed?: boolean
  /** Set when the call only reads: then a block with an old stamp is read too. [AG-7] */
  readonly isRead?: true
  /** What the caller saw of the page; absent when unknown. [AG-17] */
  readonly sight?: PageSight | undefined
}

/** The arguments that address a block. */
export interface Address {
  readonly id?: string | undefined
  readonly anchor?: string | undefined
}

/** The names of the arguments `id` and `anchor` of a call, for errors. */
export interface AddressNames {
  readonly id: string
  readonly anchor: string
}

export const ownNames: AddressNames = { id: 'id', anchor: 'anchor' }

export function isAddressed(address: Address): boolean {
  return address.id !== undefined || address.anchor !== undefined
}

/**
 * Refuses an address that a write cannot use on any page; `null` otherwise. A handle is a position, so it needs a stamp, or the version that the caller read.
 * [PROSE-47, AG-9]
 */
export function addressFlaw(
  address: Address,
  expectedVersion: number | undefined,
  names: AddressNames = ownNames,
): Refusal | null {
  const { id, anchor } = address
  if (id === undefined || readHandle(id) === null || expectedVersion !== undefined) return anchorFlaw(anchor, names.anchor)
  const expected = 'expectedVersion together with a handle'
  return refused(
    'ERR_BAD_ARGUMENT',
    `${names.id} "${id}" is a position: send as expectedVersion the serverVersion that you read it in.`,
    {
      argument: 'expectedVersion',
      expected,
    },
  )
}

/** Refuses a call that needs a block and addresses none. [ERR_TARGET_MISSING] */
export function targetFlaw(
  address: Address,
  expectedVersion: number | undefined,
  names: AddressNames = ownNames,
): Refusal | null {
  if (isAddressed(address)) return addressFlaw(address, expectedVersion, names)
  return refused('ERR_TARGET_MISSING', `Name a block by ${names.id} (its blk- id) or ${names.anchor} (its whole text).`)
}

/**
 * Finds the block that a call names by id, by its whole text, or by both, which must agree. At least one must be given. [PROSE-48,
 * PROSE-49]
 */
export function findTarget(page: TargetPage, address: Address, names: AddressNames = ownNames): Located | Refusal {
  const { id, anchor } = address
  const blocks = idBearing(page.tree)
  if (id === undefined) return findAnchor(blocks, anchor as string, { which: names.anchor, naming: namingOf(page) })
  const found = findId(page, blocks, id, names.id)
  if (isRefusal(found) || anchor === undefined) return found
  if (isAnchoredBy(found.block, anchor)) return found
  const currentText = quote(blockText(found.block))
  return refused(
    'ERR_ID_ANCHOR_MISMATCH',
    `${names.anchor} is not the text of ${quote(id)}, which is "${currentText}"; read the page again, or send the id alone.`,
    { id: quote(id), currentText },
  )
}

function findId(page: TargetPage, blocks: readonly Located[], id: string, argument: string): Located | Refusal {
  const matches = id === '' ? [] : withId(blocks, id)
  const [only] = matches
  if (only !== undefined) return matches.length === 1 ? only : ambiguous(page, id, matches)
  const handle = readHandle(id)
  if (handle !== null) return blockAt(page.tree, handle) ?? noBlockAt(page, id)
  const stamped = readStampedId(id)
  if (stamped !== null) return findStamped(page, blocks, stamped)
  return id.lastIndexOf('#') > 0 ? noStamp(id, argument) : idNotFound(page, blocks, id)
}

function withId(blocks: readonly Located[], id: string): readonly Located[] {
  return blocks.filter(({ block }) => blockId(block) === id)
}

function ambiguous(page: TargetPage, id: string, matches: readonly Located[]): Refusal {
  const shown = matches.slice(0, 5).map((match) => blockFact(match, namingOf(page)))
  return refused(
    'ERR_ID_AMBIGUOUS',
    `${matches.length} blocks have the id ${quote(id)}; address one by its whole text: ${told(shown)}.`,
    { id: quote(id), count: matches.length, matches: shown },
  )
}

/** Refuses a name in which the text after the last `#` is no stamp. [AG-6] */
function noStamp(id: string, argument: string): Refusal {
  const expected = 'an id as it was printed, with # and four characters behind it, or without both'
  return refused('ERR_BAD_ARGUMENT', `${argument} ${quote(id)} ends in no stamp; give ${expected}.`, { argument, expected })
}

/** Finds the block that a stamped id or handle names. Refuses a block that no longer has the stamp, except for a read. [AG-7, AG-10] */
function findStamped(page: TargetPage, blocks: readonly Located[], { id, stamp }: StampedId): Located | Refusal {
  const handle = readHandle(id)
  if (handle !== null) return findStampedHandle(page, handle, { id, stamp })
  const matches = withId(blocks, id)
  const [first] = matches
  if (first === undefined) return idNotFound(page, blocks, id)
  const same = matches.filter(({ block }) => blockStamp(block) === stamp)
  if (same.length > 1 || (same.length === 0 && matches.length > 1)) return ambiguous(page, id, matches)
  return same[0] ?? (page.isRead === true ? first : blockChanged(page, id, first))
}

/** Finds the block with the stamp of a handle, also after the block moved. [AG-10] */
function findStampedHandle(page: TargetPage, path: Path, { id, stamp }: StampedId): Located | Refusal {
  const there = blockAt(page.tree, path)
  const same = addressable(page.tree).filter(({ block }) => blockStamp(block) === stamp)
  const atPlace = same.find((located) => samePath(located.path, path))
  if (same.length > 1) return atPlace !== undefined && page.isVersionNamed === true ? atPlace : ambiguousHandle(page, id, same)
  if (same[0] !== undefined) return same[0]
  if (there === null) return noBlockAt(page, id)
  return page.isRead === true ? there : blockChanged(page, id, there)
}

function ambiguousHandle(page: TargetPage, id: string, matches: readonly Located[]): Refusal {
  const shown = matches.slice(0, 5).map((match) => blockFact(match, namingOf(page)))
  const hint = 'name the block by its blk- id, or send the serverVersion that you read as expectedVersion'
  return refused('ERR_ID_AMBIGUOUS', `${matches.length} blocks of the page say the same as ${quote(id)}; ${hint}.`, {
    id: quote(id),
    count: matches.length,
    matches: shown,
  })
}

function noBlockAt(page: TargetPage, id: string): Refusal {
  return refused('ERR_ID_NOT_FOUND', `The page has no block ${id}; it has ${page.tree.length} top-level blocks, from @0.`, { id })
}

function idNotFound(page: TargetPage, blocks: readonly Located[], id: string): Refusal {
  const other = pageWithId(page, id)
  const shown = quote(id)
  if (other !== undefined)
    return refused('ERR_ID_NOT_FOUND', `The block ${shown} is on the page ${other.id} ("${quote(pageName(other))}").`, {
      id: shown,
      otherPage: other.id,
    })
  const byId = new Map(blocks.flatMap((located) => (blockId(located.block) === null ? [] : [[blockId(located.block), located]])))
  const nearest = nearestNames(id, byId.keys() as Iterable<string>).map((name) =>
    blockFact(byId.get(name) as Located, namingOf(page)),
  )
  const hint = nearest.length === 0 ? 'no block has an id yet; use an anchor' : `nearest: ${told(nearest)}`
  return refused('ERR_ID_NOT_FOUND', `The page has no block with the id "${shown}"; ${hint}.`, {
    id: shown,
    nearest,
    ...removedBy(page.sight?.remover(id)),
  })
}

/** Finds another page that has a block with this id. Parses only pages whose HTML contains the id. */
function pageWithId(page: TargetPage, id: string) {
  if (id === '') return undefined
  return page.body.prose.pages.find(
    (other) => other.id !== page.pageId && other.content.includes(id) && idsOf(pageTree(other).tree).includes(id),
  )
}

/** Returns the path of the unit to move or delete as a whole: for the first paragraph of an item the item, else the block. [PROSE-51] */
export function unitOf(tree: ProseTree, path: Path): Path {
  const parent = parentNode(tree, path)
  return parent !== undefined && isItem(parent) && indexOf(path) === 0 ? parentOf(path) : path
}

/** Returns the first and the last block that a target stands for: those in a target cell, since the cell itself stays; else the target. [AG-9] */
export function endsOf(target: Located): { readonly first: Located; readonly last: Located } {
  if (!isCell(target.block)) return { first: target, last: target }
  const at = (index: number): Located => ({
    path: [...target.path, index],
    block: target.block.content[index] as ProseElement,
  })
  return { first: at(0), last: at(target.block.content.length - 1) }
}

export function isItem(node: ProseElement): boolean {
  return node.type === 'listItem' || node.type === 'taskItem'
}

/** Consecutive blocks of one parent. */
export interface Span {
  readonly path: Path
  readonly count: number
}

/** Returns the blocks from `from` to `until`, including both. Refuses blocks of different parents or in the wrong order. [PROSE-52] */
export function spanOf(from: Located, until: Located): Span | Refusal {
  const count = indexOf(until.path) - indexOf(from.path) + 1
  const areSiblings = samePath(parentOf(from.path), parentOf(until.path))
  if (areSiblings && count > 0) return { path: from.path, count }
  const [start, end] = [from, until].map(bareName)
  const why = areSiblings
    ? `${end} stands before ${start}; name the first block first.`
    : `${start} and ${end} do not stand in one parent, such as the page or one list item; write each stretch in a call of its own.`
  return refused('ERR_ANCHOR_RANGE', why, { from: start, until: end })
}
