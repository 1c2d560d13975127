import { findNodeSpec } from '@docrelay/model/prose/schema'
import type { Node } from 'prosemirror-model'
import type { EditorView, NodeView, NodeViewConstructor } from 'prosemirror-view'
import type { StoredImages } from './stored-images.ts'

const STORED = /^blob:\/\/([0-9a-f]{64})$/

/**
 * Views of nodes that need more than HTML: images of the workspace, and the checkboxes of tasks. With `images: null`, stored images show their
 * alternative text.
 */
export function nodeViews(images: StoredImages | null): Record<string, NodeViewConstructor> {
  return {
    image: (node) => new ImageView(node, images),
    taskItem: (node, view, getPos) => new TaskView(node, view, getPos),
  }
}

class ImageView implements NodeView {
  readonly dom = document.createElement('img')
  readonly #images: StoredImages | null
  /** The hash of the stored file that is shown. */
  #shown: string | null = null
  #source: unknown = null

  constructor(node: Node, images: StoredImages | null) {
    this.#images = images
    this.update(node)
  }

  update(node: Node): boolean {
    if (node.type.name !== 'image') return false
    const specs = findNodeSpec('image')?.attrs ?? []
    for (const { name, html, read } of specs) {
      if (name === 'src') continue
      const value = node.attrs[name] === null ? undefined : read(node.attrs[name])
      if (value === undefined) this.dom.removeAttribute(html)
      else this.dom.setAttribute(html, String(value))
    }
    const source = specs.find(({ name }) => name === 'src')?.read(node.attrs['src'])
    if (source !== this.#source) this.#show(source)
    this.#source = source
    return true
  }

  #show(source: unknown): void {
    this.#release()
    const hash = typeof source === 'string' ? STORED.exec(source)?.[1] : undefined
    this.dom.removeAttribute('src')
    this.dom.classList.toggle('docrelay-image-missing', source === undefined || (hash !== undefined && this.#images === null))
    if (hash === undefined) {
      if (source !== undefined) this.dom.src = String(source)
      return
    }
    if (this.#images === null) return
    this.#shown = hash
    this.#images.acquire(hash).then(
      (url) => {
        if (this.#shown === hash) this.dom.src = url
      },
      () => this.dom.classList.add('docrelay-image-missing'),
    )
  }

  #release(): void {
    if (this.#shown !== null) this.#images?.release(this.#shown)
    this.#shown = null
  }

  destroy(): void {
    this.#release()
  }
}

class TaskView implements NodeView {
  readonly dom = document.createElement('li')
  readonly contentDOM = document.createElement('div')
  readonly #box = document.createElement('input')

  constructor(node: Node, view: EditorView, getPos: () => number | undefined) {
    this.dom.dataset['type'] = 'taskItem'
    this.#box.type = 'checkbox'
    this.#box.contentEditable = 'false'
    // Tab moves out of the text, not through its checkboxes; a key of the application ticks the task at the caret.
    this.#box.tabIndex = -1
    this.#box.addEventListener('change', () => {
      const at = getPos()
      if (at === undefined || !view.editable) return
      view.dispatch(view.state.tr.setNodeAttribute(at, 'checked', this.#box.checked))
      view.focus()
    })
    this.dom.append(this.#box, this.contentDOM)
    this.#draw(node, view.editable)
  }

  update(node: Node): boolean {
    if (node.type.name !== 'taskItem') return false
    this.#draw(node, !this.#box.disabled)
    return true
  }

  /** Keeps a click on the checkbox from moving the caret. */
  stopEvent(event: Event): boolean {
    return event.target === this.#box
  }

  ignoreMutation(mutation: { readonly target: unknown; readonly type: string }): boolean {
    return mutation.type !== 'selection' && !this.contentDOM.contains(mutation.target as globalThis.Node)
  }

  #draw(node: Node, isEditable: boolean): void {
    const isChecked = node.attrs['checked'] === true
    this.dom.dataset['checked'] = String(isChecked)
    this.#box.checked = isChecked
    this.#box.disabled = !isEditable
    this.#box.setAttribute('aria-label', node.firstChild?.textContent.slice(0, 80) || 'task')
  }
}
