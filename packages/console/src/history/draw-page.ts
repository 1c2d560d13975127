import { proseSchema } from '@docrelay/prosemirror'
import { DOMSerializer, type Fragment, type Node } from 'prosemirror-model'
import { messages } from '../messages.en.ts'
import type { BlockChange } from './block-diff.ts'

/** Runs of more unchanged blocks than this are folded. */
const FOLDED = 3
/** How many unchanged blocks stay open beside a change. */
const AROUND = 1

const drawn = DOMSerializer.fromSchema(proseSchema)
/** Pictures of a former state may be gone, and the page loads none from elsewhere: their text stands for them. */
const serializer = new DOMSerializer(
  {
    ...drawn.nodes,
    image: ({ attrs }) => ['span', { class: 'drawn-picture' }, messages.history.picture(String(attrs['alt'] ?? ''))],
  },
  drawn.marks,
)

/** Draws the blocks of a page, without a way to change them. */
export function drawBlocks(page: Node): globalThis.Node {
  return serializer.serializeFragment(page.content)
}

/** Draws a page with what changed on it: `ins` and `del` around words, and a sign beside whole blocks. */
export function drawChanges(changes: readonly BlockChange[]): globalThis.Node {
  const out = document.createDocumentFragment()
  for (let at = 0; at < changes.length; ) {
    const run = unchangedFrom(changes, at)
    const first = at === 0 ? 0 : AROUND
    const last = at + run === changes.length ? 0 : AROUND
    const folded = run - first - last
    if (folded <= FOLDED) {
      out.append(drawChange(changes[at] as BlockChange))
      at++
      continue
    }
    for (const change of changes.slice(at, at + first)) out.append(drawChange(change))
    out.append(foldOf(changes.slice(at + first, at + run - last)))
    for (const change of changes.slice(at + run - last, at + run)) out.append(drawChange(change))
    at += run
  }
  return out
}

function unchangedFrom(changes: readonly BlockChange[], from: number): number {
  let end = from
  while (changes[end]?.kind === 'same') end++
  return end - from
}

function foldOf(changes: readonly BlockChange[]): HTMLElement {
  const fold = document.createElement('details')
  const summary = document.createElement('summary')
  summary.textContent = messages.history.unchanged(changes.length)
  fold.append(summary)
  // Drawn when somebody opens it: a long page has thousands of such blocks.
  fold.addEventListener('toggle', () => appendAll(fold, changes.map(drawChange)), { once: true })
  return fold
}

function drawChange(change: BlockChange): globalThis.Node {
  switch (change.kind) {
    case 'same':
      return serializer.serializeNode(change.block)
    case 'added':
    case 'removed':
      return marked(serializer.serializeNode(change.block), change.kind)
    case 'parts':
      return filled(change.block, change.parts.map(drawChange))
    case 'text':
      return filled(
        change.block,
        change.runs.map(({ kind, content }) => drawRun(kind, content)),
      )
  }
}

function drawRun(kind: 'same' | 'added' | 'removed', content: Fragment): globalThis.Node {
  const text = serializer.serializeFragment(content)
  if (kind === 'same') return text
  const mark = document.createElement(kind === 'added' ? 'ins' : 'del')
  mark.append(text)
  return mark
}

/** The block with these parts in place of its content. */
function filled(block: Node, parts: readonly globalThis.Node[]): globalThis.Node {
  const toDOM = serializer.nodes[block.type.name]
  if (toDOM === undefined) return serializer.serializeNode(block)
  const { dom, contentDOM } = DOMSerializer.renderSpec(document, toDOM(block))
  appendAll(contentDOM ?? (dom as HTMLElement), parts)
  return dom
}

/** One after the other: a long text has more changes than a call may have arguments. */
function appendAll(parent: HTMLElement, parts: readonly globalThis.Node[]): void {
  for (const part of parts) parent.append(part)
}

/** Elements that may stand only within a list or a table, so nothing can be put around them. */
const INNER = ['LI', 'TR', 'TD', 'TH', 'FIGCAPTION']

function marked(block: globalThis.Node, kind: 'added' | 'removed'): globalThis.Node {
  const isInner = block instanceof HTMLElement && INNER.includes(block.tagName)
  const around = isInner ? block : document.createElement('div')
  if (!isInner) around.append(block)
  around.classList.add('change', `change-${kind}`)
  const sign = document.createElement('span')
  sign.className = 'change-sign'
  sign.textContent = messages.history.block[kind]
  const place = around.tagName === 'TR' ? around.firstElementChild : around
  place?.prepend(sign)
  return around
}
