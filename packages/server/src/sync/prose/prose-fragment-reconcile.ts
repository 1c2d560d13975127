import { idsOf } from '@docrelay/model/prose/blocks'
import { equalAttrs, equalTrees, equalValues, isEmptyPage } from '@docrelay/model/prose/equal'
import { pushAll } from '@docrelay/model/prose/marks'
import type { ProseElement, ProseTree } from '@docrelay/model/prose/node'
import { nodeSpec } from '@docrelay/model/prose/schema'
import type { TextChange } from '@docrelay/model/prose/text-splices'
import type * as Y from 'yjs'
import { mergeInline } from './prose-fragment-inline.ts'
import { type Hints, planBlocks, type Plan } from './prose-fragment-plan.ts'
import { forgetElement, readUnits, type ProseCache, type Unit } from './prose-fragment-read.ts'
import { writeInline } from './prose-fragment-text.ts'
import { writeWords } from './prose-fragment-words.ts'
import { changeAttr, createElements } from './prose-fragment-write.ts'

/** Inputs of one reconciliation. */
interface Going extends Hints {
  readonly cache: ProseCache
  /** Blocks in which only words were replaced. */
  readonly words: readonly TextChange[]
}

/** Implements `reconcileFragment`. */
export function reconcileUnits(
  fragment: Y.XmlFragment,
  before: ProseTree,
  after: ProseTree,
  { cache, moved, words }: Pick<Going, 'cache' | 'moved' | 'words'>,
): void {
  if (equalTrees(before, after)) return
  const going: Going = { cache, moved, words, repeated: repeatedIn(idsOf(before)) }
  const units = readUnits(fragment, cache)
  const live = units.flatMap((unit) => unit.nodes)
  // A page with one empty paragraph and a page without any block are the same empty page.
  const from = isEmptyPage(before) && isEmptyPage(live) ? live : before
  const plan = planBlocks(from, isEmptyPage(after) ? [] : after, live, going)
  if (plan === undefined) return
  const changed = applyPlan(fragment, units, plan, going)
  repair(fragment, new Set(changed), cache)
}

/** Returns the ids that occur more than once. An editor that splits a block gives its id to both halves. [PROSE-44] */
function repeatedIn(ids: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const id of ids) (seen.has(id) ? repeated : seen).add(id)
  return repeated
}

/**
 * Applies a plan to the children of one live parent, from last to first, so that positions stay valid. Returns the children changed in
 * place.
 */
function applyPlan(parent: Y.XmlFragment, units: readonly Unit[], plan: Plan, going: Going): readonly Y.XmlElement[] {
  const { cache } = going
  const changed: Y.XmlElement[] = []
  let first = units.reduce((sum, unit) => sum + unit.nodes.length, 0)
  for (const unit of units.toReversed()) {
    first -= unit.nodes.length
    const [node] = unit.nodes
    if (node === undefined) continue
    const element = unit.nodes.length === 1 && unit.count === 1 ? cache.origins.get(node) : undefined
    if (element?.parent !== parent) {
      rewriteUnit(parent, unit, first, plan)
      continue
    }
    // `insertAfter` is cheap. `insert` at a position would walk the list of children from its start.
    const inserted = plan.inserted.get(first)
    if (inserted !== undefined) parent.insertAfter(element, createElements(inserted))
    const change = plan.changed.get(first)
    if (plan.removed.has(first)) removeElement(element)
    else if (change !== undefined) {
      changeElement(element, node, change.before, change.after, going)
      forgetElement(cache, element)
      changed.push(element)
    }
  }
  const atStart = plan.inserted.get(-1)
  if (atStart !== undefined) parent.insert(0, createElements(atStart))
  return changed
}

function removeElement(element: Y.XmlElement): void {
  element.doc?.transact((transaction) => element._item?.delete(transaction))
}

/**
 * Applies a plan to a unit that the model shows in a different form. When a block of the unit changes, the whole unit is rewritten in the
 * form that the model shows. [PROSE-24]
 */
function rewriteUnit(parent: Y.XmlFragment, unit: Unit, first: number, plan: Plan): void {
  const last = first + unit.nodes.length - 1
  let differs = false
  const nodes: ProseElement[] = []
  unit.nodes.forEach((node, i) => {
    const index = first + i
    const change = plan.changed.get(index)
    const inserted = plan.inserted.get(index) ?? []
    if (plan.removed.has(index) || change !== undefined || (inserted.length > 0 && index !== last)) differs = true
    if (!plan.removed.has(index)) nodes.push(change?.after ?? node)
    pushAll(nodes, inserted)
  })
  if (!differs) {
    const inserted = plan.inserted.get(last)
    if (inserted !== undefined) parent.insert(unit.start + unit.count, createElements(inserted))
    return
  }
  parent.delete(unit.start, unit.count)
  parent.insert(unit.start, createElements(nodes))
}

/** Applies the change of one block to its live element. `live` was read from that element. */
function changeElement(element: Y.XmlElement, live: ProseElement, before: ProseElement, after: ProseElement, going: Going): void {
  const spec = nodeSpec(after.type)
  if (!equalAttrs(before.attrs, after.attrs)) {
    for (const attr of spec.attrs) {
      const value = after.attrs[attr.name]
      if (!equalValues(before.attrs[attr.name], value)) changeAttr(element, attr, value)
    }
  }
  if (spec.content === 'none' || before.content === after.content) return
  if (spec.content === 'inline' || spec.content === 'code') {
    const content = mergeInline(before.content, after.content, live.content)
    if (content === live.content || writeWords(element, live, after, going.words)) return
    writeInline(element, content)
    return
  }
  const nodes = live.content as readonly ProseElement[]
  const plan = planBlocks(before.content as readonly ProseElement[], after.content as readonly ProseElement[], nodes, going)
  if (plan === undefined) return
  applyPlan(
    element,
    nodes.map((node, start) => ({ start, count: 1, nodes: [node] })),
    plan,
    going,
  )
}

/**
 * Rewrites changed blocks whose merged content violates the model, such as a list from which both sides removed items. Writes them in the
 * form in which the model shows them. [YDOC-13]
 */
function repair(fragment: Y.XmlFragment, changed: ReadonlySet<Y.XmlElement>, cache: ProseCache): void {
  if (changed.size === 0) return
  const children = fragment.toArray()
  for (const unit of readUnits(fragment, cache).toReversed()) {
    const child = children[unit.start]
    const [node] = unit.nodes
    if (unit.count !== 1 || !changed.has(child as Y.XmlElement)) continue
    if (unit.nodes.length === 1 && node !== undefined && cache.origins.get(node) === child) continue
    fragment.delete(unit.start, 1)
    if (unit.nodes.length > 0) fragment.insert(unit.start, createElements(unit.nodes))
  }
}
