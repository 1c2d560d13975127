import { proseSchema } from '@docrelay/prosemirror'
import { DOMSerializer, type Fragment, type Node } from 'prosemirror-model'
import { messages } from '../messages.en.ts'
import type { BlockChange } from './block-diff.ts'

/** Unchanged blocks in a row are folded when the fold hides more than this many of them. */
const FOLDED = 3
/** How many unchanged blocks beside a change are never folded. */
const AROUND = 1

const drawn = DOMSerializer.fromSchema(proseSchema)
/** Shows the alternative text in place of a picture: pictures of a former state may be deleted, and the page loads none from other sites. */
const serializer = new DOMSerializer(
  {
    ...drawn.nodes,
    image: ({ attrs }) => ['span', { class: 'drawn-picture' }, messages.history.picture(String(attrs['alt'] ?? ''))],
  },
  drawn.marks,
)

/** Draws the blocks of a page, read-only. */
export function drawBlocks(page: Node): globalThis.Node {
  return serializer.serializeFragment(page.content)
}

/** Draws a page with its changes: `ins` and `del` around words, and a sign on whole blocks that were added or removed. */
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
  // The blocks are drawn only when somebody opens the fold, because a long page has thousands of them.
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

/** Draws a block with these parts in place of its content. */
function filled(block: Node, parts: readonly globalThis.Node[]): globalThis.Node {
  const toDOM = serializer.nodes[block.type.name]
  if (toDOM === undefined) return serializer.serializeNode(block)
  const { dom, contentDOM } = DOMSerializer.renderSpec(document, toDOM(block))
  appendAll(contentDOM ?? (dom as HTMLElement), parts)
  return dom
}

/** Appends the parts one by one, because a long text has more parts than a function call may have arguments. */
function appendAll(parent: HTMLElement, parts: readonly globalThis.Node[]): void {
  for (const part of parts) parent.append(part)
}

/** Elements that are valid only directly inside a list, table or figure, so no `div` may be put around them. */
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
