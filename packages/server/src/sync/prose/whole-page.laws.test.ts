import { isRefusal } from '@docrelay/model/edit'
import { runEdit } from '@docrelay/model/edits'
import { readStoredBody } from '@docrelay/model/body-parse'
import type { DocumentBody } from '@docrelay/model/body'
import { blockId, completeIds, elementsOf, idBearing, mapIdBearing, withBlockId } from '@docrelay/model/prose/blocks'
import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseElement, ProseNode, ProseTree } from '@docrelay/model/prose/node'
import { getProse, type GetProse } from '@docrelay/model/prose/read-prose'
import { anyTable, anyTree } from '@docrelay/model/prose/testing/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { editEnvironment } from '../../documents/edit-body.ts'
import { dice } from '../../kernel/testing/dice.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { ProjectionCache, project, reconcile } from '../binding/binding.ts'
import { exchange, liveDocument, replica } from '../testing/live-document.ts'

const NOW_MS = Date.UTC(2026, 6, 1)

function environment() {
  const roll = dice(7)
  return editEnvironment(NOW_MS, {
    bytes: (count) => Uint8Array.from({ length: count }, () => roll(256)),
    integer: (from, to) => from + roll(to - from),
  })
}

function bodyOf(content: string): DocumentBody {
  const value = { id: 'doc', name: 'Doc', pages: [], richTextPages: [{ id: 'p', name: 'P', order: 0, content }] }
  return readStoredBody(new TextEncoder().encode(JSON.stringify(value)))
}

const pageOf = (body: DocumentBody): string => body.prose.pages[0]?.content ?? ''
const treeOf = (html: string): ProseTree => parseHtml(html, { source: 'stored' }).tree

type Way = Pick<GetProse, 'format' | 'ids'>
const WAYS: readonly Way[] = [
  { ids: true },
  { ids: true, format: 'html' },
  { ids: false, format: 'html' },
  { ids: false, format: 'markdown' },
]

/** Returns a page as `get_prose` shows it. */
function read(tree: ProseTree, way: Way): string {
  const listing = getProse(bodyOf(serialiseHtml(tree)), { pageId: 'p', ...way })
  if (isRefusal(listing)) throw new Error(listing.message)
  const { page } = listing.show([...listing.from({ part: 0, index: 0 })].map(({ item }) => item))
  return (page as { readonly content: string }).content
}

/** Returns the content that an agent sends after it has read `before` and changed one block. The block handles are those of `before`. */
function sentContent(before: ProseTree, after: ProseTree, way: Way): string {
  const shown = read(before, way)
  return read(after, way).replaceAll(/(blk-own\d+)#[0-9a-z]{4}/g, (name, id: string) => {
    return new RegExp(`${id}#[0-9a-z]{4}`).exec(shown)?.[0] ?? name
  })
}

function setPage(before: DocumentBody, content: string) {
  return runEdit('set_prose', before, { pageId: 'p', content }, environment())
}

type YNode = Y.XmlElement | Y.XmlText

/** Returns all nodes below a parent in a live page, in document order. */
function nodesOf(parent: Y.XmlFragment): readonly YNode[] {
  return parent
    .toArray()
    .flatMap((node): readonly YNode[] => (node instanceof Y.XmlElement ? [node, ...nodesOf(node)] : [node as Y.XmlText]))
}

interface Live {
  readonly doc: Y.Doc
  readonly before: readonly YNode[]
  readonly after: readonly YNode[]
  readonly html: string
}

/**
 * Writes the content to a live document while `meanwhile` changes another replica. Returns the nodes before and after the write, and the
 * HTML of the page after the replicas are in sync.
 */
function setLivePage(stored: DocumentBody, content: string, meanwhile: (person: Y.Doc) => void = () => undefined): Live {
  const doc = liveDocument(stored)
  using cache = new ProjectionCache()
  const body = project(doc, stored, cache)
  const before = nodesOf(doc.getXmlFragment('prose:p'))
  const person = replica(doc)
  meanwhile(person)
  const edited = setPage(body, content)
  if (isRefusal(edited)) throw new Error(edited.message)
  reconcile(doc, body, edited.body, 'relay', NOW_MS, {
    moved: new Set(edited.writtenBlocks),
    words: edited.textChanges ?? [],
    cache,
  })
  exchange(doc, person)
  const html = pageOf(project(doc, edited.body, cache))
  return { doc, before, after: nodesOf(doc.getXmlFragment('prose:p')), html }
}

function coldPage(stored: DocumentBody, content: string): string {
  const edited = setPage(stored, content)
  if (isRefusal(edited)) throw new Error(`${edited.code}: ${edited.message}`)
  return pageOf(edited.body)
}

const page = fc
  .tuple(anyTree, anyTable)
  .map(([blocks, table]) => serialiseHtml(mapIdBearing([...blocks, table], (block) => withBlockId(block, null))))
  // Pages with field chips are left out, because this document has no fields from which they get their labels.
  .filter((html) => !html.includes('data-field'))
  .map((html) => completeIds(treeOf(html), counter()))

function counter(): () => string {
  let count = 0
  return () => `blk-own${++count}`
}

const way = fc.constantFrom(...WAYS)

/** Returns the HTML of a page without the content of the block `id`. */
function around(tree: ProseTree, id: string): string {
  return serialiseHtml(mapIdBearing(tree, (block) => (blockId(block) === id ? { ...block, content: [] } : block)))
}

const isIn = (element: Y.XmlElement, node: YNode): boolean =>
  node === element || (node.parent instanceof Y.XmlElement && isIn(element, node.parent))

function said(block: ProseElement): ProseElement {
  const more: ProseNode = { type: 'text', text: 'zz', marks: [] }
  return { ...block, content: [...block.content, more] }
}

describe('a page that is read, changed in one place and sent back whole', () => {
  it('[AG-25] [PROSE-54] words added in one block change no other byte, cold or live, and no other live node', {
    timeout: patience(120_000),
  }, () => {
    fc.assert(
      fc.property(page, way, fc.nat(), (tree, sent, pick) => {
        const blocks = idBearing(tree)
        const own = blocks[pick % blocks.length]?.block
        if (own === undefined) return
        const id = blockId(own) as string
        const changed = treeOf(serialiseHtml(mapIdBearing(tree, (block) => (blockId(block) === id ? said(block) : block))))
        const [stored, content] = [bodyOf(serialiseHtml(tree)), sentContent(tree, changed, sent)]
        const cold = coldPage(stored, content)
        expect(around(treeOf(cold), id)).toBe(around(tree, id))
        expect(cold).toContain('zz')
        const live = setLivePage(stored, content)
        expect(live.html).toBe(cold)
        const [element] = live.before.filter((node) => node instanceof Y.XmlElement && node.getAttribute('id') === id)
        const others = (nodes: readonly YNode[]) => nodes.filter((node) => !isIn(element as Y.XmlElement, node))
        const [before, after] = [others(live.before), others(live.after)]
        expect([after.length, after.findIndex((node, i) => node !== before[i])]).toEqual([before.length, -1])
        expect(live.after.includes(element as Y.XmlElement)).toBe(true)
      }),
      { seed: 2501, numRuns: 400 },
    )
  })

  it('[AG-25] adding or removing an item or a row leaves all other items and rows unchanged, cold and live', {
    timeout: patience(120_000),
  }, () => {
    let tried = 0
    fc.assert(
      fc.property(page, fc.constantFrom(...WAYS.slice(0, 2)), fc.nat(), fc.boolean(), (tree, sent, pick, isAdded) => {
        const parents = elementsOf(tree).filter(isListOrPlainTable)
        const parent = parents[pick % Math.max(parents.length, 1)]
        if (parent === undefined) return
        const parts = parent.content as readonly ProseElement[]
        const at = pick % parts.length
        const part = parts[at] as ProseElement
        if (!isAdded && (parts.length === 1 || at === 0)) return
        tried++
        const next = isAdded ? [...parts.slice(0, at + 1), fresh(part), ...parts.slice(at + 1)] : parts.toSpliced(at, 1)
        const changed = exchanged(tree, parent, { ...parent, content: next }) as ProseTree
        const [stored, content] = [bodyOf(serialiseHtml(tree)), sentContent(tree, changed, sent)]
        const cold = coldPage(stored, content)
        const kept = cold.replaceAll(/ id="blk-(?!own)[^"]*"/g, '')
        expect(kept).toBe(serialiseHtml(changed))
        const live = setLivePage(stored, content)
        expect(live.html).toBe(cold)
        const after = new Set(live.after)
        const lost = live.before.filter((node) => !after.has(node))
        const top = lost.filter((node) => !lost.includes(node.parent as YNode))
        expect(top.map((node) => (node as Y.XmlElement).nodeName)).toEqual(isAdded ? [] : [part.type])
      }),
      { seed: 2502, numRuns: 600 },
    )
    expect(tried).toBeGreaterThan(100)
  })
})

function isListOrPlainTable({ type, content }: ProseElement): boolean {
  if (type === 'bulletList' || type === 'orderedList' || type === 'taskList') return true
  const cells = (content as readonly ProseElement[]).flatMap((row) => row.content as readonly ProseElement[])
  return type === 'table' && cells.every(({ attrs }) => attrs['colspan'] === undefined && attrs['rowspan'] === undefined)
}

/** Returns a new item or row of the same kind. */
function fresh(part: ProseElement): ProseElement {
  const word = (): ProseElement => ({ type: 'paragraph', attrs: {}, content: [{ type: 'text', text: 'zz', marks: [] }] })
  if (part.type !== 'tableRow') return { type: part.type, attrs: {}, content: [word()] }
  const cells = part.content as readonly ProseElement[]
  return { ...part, content: cells.map(({ type }): ProseElement => ({ type, attrs: {}, content: [word()] })) }
}

function exchanged(nodes: readonly ProseNode[], old: ProseElement, by: ProseElement): readonly ProseNode[] {
  return nodes.map((node) => {
    if (node === old) return by
    return node.type === 'text' ? node : { ...node, content: exchanged(node.content, old, by) }
  })
}
