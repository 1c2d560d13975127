import type { Node } from 'prosemirror-model'
import { TextSelection } from 'prosemirror-state'
import type { NodeView, NodeViewConstructor } from 'prosemirror-view'
import { messages } from '../messages.en.ts'
import type { Library } from './library.ts'

const texts = messages.prose.chips

export interface ChipActions {
  /** Opens the form for the node at a position; only called while the page can be edited. */
  readonly edit: (at: number) => void
  readonly download: (node: Node) => void
}

/** Views of nodes with drawn content: formulas, fields, citations, files, and content that the page only refers to. */
export function chipViews(library: Library, actions: ChipActions): Record<string, NodeViewConstructor> {
  const chip =
    (draw: (node: Node, dom: HTMLElement) => void, tag: string, onClick?: (node: Node) => void): NodeViewConstructor =>
    (node, view, getPos) =>
      new Chip(node, tag, draw, library, (current) => {
        const at = getPos()
        // Text typed after a click goes beside the chip. The arrow keys select the chip itself.
        if (at !== undefined && current.isInline)
          view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, at + current.nodeSize)))
        if (onClick !== undefined) onClick(current)
        else if (at !== undefined && view.editable) actions.edit(at)
      })
  return {
    callout: (node) => new Callout(node),
    mathInline: chip(drawFormula, 'span'),
    mathBlock: chip(drawFormula, 'div'),
    fieldRef: chip((node, dom) => drawField(node, dom, library), 'span'),
    citationInline: chip((node, dom) => drawCitation(node, dom, library), 'span'),
    fileRef: chip(drawFile, 'span', actions.download),
    bibliography: chip(
      (_, dom) => drawBibliography(dom, library),
      'div',
      () => undefined,
    ),
    embeddedGroup: chip(drawGroup, 'div', () => undefined),
  }
}

class Chip implements NodeView {
  readonly dom: HTMLElement
  readonly #draw: (node: Node, dom: HTMLElement) => void
  readonly #unlisten: () => void
  #node: Node

  constructor(
    node: Node,
    tag: string,
    draw: (node: Node, dom: HTMLElement) => void,
    library: Library,
    onClick: (node: Node) => void,
  ) {
    this.#node = node
    this.#draw = draw
    this.dom = document.createElement(tag)
    this.dom.className = `chip chip-${node.type.name}`
    this.dom.addEventListener('click', () => onClick(this.#node))
    this.#unlisten = library.onChange(() => draw(this.#node, this.dom))
    draw(node, this.dom)
  }

  update(node: Node): boolean {
    if (node.type !== this.#node.type) return false
    this.#node = node
    this.#draw(node, this.dom)
    return true
  }

  ignoreMutation(): boolean {
    return true
  }

  destroy(): void {
    this.#unlisten()
  }
}

class Callout implements NodeView {
  readonly dom = document.createElement('div')
  readonly contentDOM = this.dom

  constructor(node: Node) {
    this.update(node)
  }

  update(node: Node): boolean {
    if (node.type.name !== 'callout') return false
    const variant = calloutVariant(node.attrs['variant'])
    this.dom.dataset['callout'] = ''
    this.dom.dataset['variant'] = variant
    // The label is read out as the name of the group. The style sheet draws it from the attribute, since it has no texts of its own.
    this.dom.setAttribute('role', 'group')
    this.dom.setAttribute('aria-label', messages.prose.variants[variant])
    return true
  }
}

export const VARIANTS = ['note', 'tip', 'warning', 'danger'] as const

export function calloutVariant(value: unknown): (typeof VARIANTS)[number] {
  return VARIANTS.find((variant) => variant === value) ?? 'note'
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function drawFormula({ attrs }: Node, dom: HTMLElement): void {
  const source = text(attrs['latex'])
  dom.textContent = source === '' ? texts.emptyFormula : source
  dom.title = texts.formula
}

function drawField({ attrs }: Node, dom: HTMLElement, library: Library): void {
  const name = text(attrs['name'])
  const value = library.fieldValue(name) ?? text(attrs['label'])
  dom.textContent = value === '' ? name : value
  dom.classList.toggle('chip-empty', value === '')
  dom.title = texts.field(name)
}

function drawCitation({ attrs }: Node, dom: HTMLElement, library: Library): void {
  const id = text(attrs['refId'])
  const reference = library.reference(id)
  const locator = text(attrs['locator'])
  const shown = text(attrs['label']) || reference?.short || id
  dom.textContent = `(${shown}${locator === '' ? '' : `, ${locator}`})`
  dom.classList.toggle('chip-empty', reference === undefined)
  dom.title = reference === undefined ? texts.unknownReference(id) : reference.title
}

function drawFile({ attrs }: Node, dom: HTMLElement): void {
  dom.textContent = text(attrs['fileName']) || texts.file
  dom.title = texts.download
}

function drawBibliography(dom: HTMLElement, library: Library): void {
  const title = document.createElement('strong')
  title.textContent = texts.bibliography
  const list = document.createElement('ul')
  for (const { short, title: named } of library.references) {
    const item = document.createElement('li')
    item.textContent = named === '' || named.startsWith(short) ? short : `${short}. ${named}`
    list.append(item)
  }
  dom.replaceChildren(title, list)
}

function drawGroup({ attrs }: Node, dom: HTMLElement): void {
  dom.textContent = texts.group(text(attrs['groupName']))
}
