import type { DocumentBody } from '../body.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import { nearestNames } from '../nearest.ts'
import { pageName } from '../pages.ts'
import { quote } from '../quote.ts'
import { anchorFlaw, blockFact, findAnchor, isAnchoredBy, told } from './anchors.ts'
import { blockId, idBearing, idsOf, nameOf, type Located } from './blocks.ts'
import { pageTree } from './page.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { blockText } from './text.ts'
import { indexOf, parentNode, parentOf, samePath, type Path } from './tree-path.ts'

/** A page whose blocks are addressed, with what is needed to explain why a block is not found. */
export interface TargetPage {
  readonly body: DocumentBody
  readonly pageId: string
  readonly tree: ProseTree
}

/** The arguments that address a block. */
export interface Address {
  readonly id?: string | undefined
  readonly anchor?: string | undefined
}

/** The names of the two arguments, for errors. */
export interface AddressNames {
  readonly id: string
  readonly anchor: string
}

export const ownNames: AddressNames = { id: 'id', anchor: 'anchor' }

export function isAddressed(address: Address): boolean {
  return address.id !== undefined || address.anchor !== undefined
}

/**
 * Why a writing call cannot address a block on any page; `null` when it can. Handles are positions, so only a caller that names the version
 * it read may use them. [PROSE-47]
 */
export function addressFlaw(
  address: Address,
  expectedVersion: number | undefined,
  names: AddressNames = ownNames,
): Refusal | null {
  const { id, anchor } = address
  if (id === undefined || handleIndex(id) === null || expectedVersion !== undefined) return anchorFlaw(anchor, names.anchor)
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
  if (id === undefined) return findAnchor(blocks, anchor as string, names.anchor)
  const found = findId(page, blocks, id)
  if (isRefusal(found) || anchor === undefined) return found
  if (isAnchoredBy(found.block, anchor)) return found
  const currentText = quote(blockText(found.block))
  return refused(
    'ERR_ID_ANCHOR_MISMATCH',
    `${names.anchor} is not the text of ${quote(id)}, which is "${currentText}"; read the page again, or send the id alone.`,
    { id: quote(id), currentText },
  )
}

function findId(page: TargetPage, blocks: readonly Located[], id: string): Located | Refusal {
  const matches = id === '' ? [] : blocks.filter(({ block }) => blockId(block) === id)
  const [only] = matches
  if (only === undefined) return handleIndex(id) === null ? idNotFound(page, blocks, id) : findHandle(page, id)
  if (matches.length === 1) return only
  const shown = matches.slice(0, 5).map(blockFact)
  return refused(
    'ERR_ID_AMBIGUOUS',
    `${matches.length} blocks have the id ${quote(id)}; address one by its whole text: ${told(shown)}.`,
    { id: quote(id), count: matches.length, matches: shown },
  )
}

function handleIndex(id: string): number | null {
  return /^@\d{1,9}$/.test(id) ? Number(id.slice(1)) : null
}

function findHandle(page: TargetPage, id: string): Located | Refusal {
  const index = handleIndex(id) as number
  const block = page.tree[index]
  if (block !== undefined) return { path: [index], block }
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
  const nearest = nearestNames(id, byId.keys() as Iterable<string>).map((name) => blockFact(byId.get(name) as Located))
  const hint = nearest.length === 0 ? 'no block has an id yet; use an anchor' : `nearest: ${told(nearest)}`
  return refused('ERR_ID_NOT_FOUND', `The page has no block with the id "${shown}"; ${hint}.`, { id: shown, nearest })
}

/** A page is only parsed when its text contains the id. */
function pageWithId(page: TargetPage, id: string) {
  if (id === '') return undefined
  return page.body.prose.pages.find(
    (other) => other.id !== page.pageId && other.content.includes(id) && idsOf(pageTree(other).tree).includes(id),
  )
}

/** The path of the unit that is moved or deleted as a whole: for an item's first paragraph the item, else the block itself. [PROSE-51] */
export function unitOf(tree: ProseTree, path: Path): Path {
  const parent = parentNode(tree, path)
  return parent !== undefined && isItem(parent) && indexOf(path) === 0 ? parentOf(path) : path
}

export function isItem(node: ProseElement): boolean {
  return node.type === 'listItem' || node.type === 'taskItem'
}

/** Consecutive blocks of one parent. */
export interface Span {
  readonly path: Path
  readonly count: number
}

/** The blocks from one to another, including both. [PROSE-52] */
export function spanOf(from: Located, until: Located): Span | Refusal {
  const count = indexOf(until.path) - indexOf(from.path) + 1
  const areSiblings = samePath(parentOf(from.path), parentOf(until.path))
  if (areSiblings && count > 0) return { path: from.path, count }
  const [start, end] = [from, until].map((end) => nameOf(end) ?? quote(blockText(end.block)))
  const why = areSiblings
    ? `${end} stands before ${start}; name the first block first.`
    : `${start} and ${end} do not stand in one parent, such as the page or one list item; write each stretch in a call of its own.`
  return refused('ERR_ANCHOR_RANGE', why, { from: start, until: end })
}
