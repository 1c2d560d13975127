import { EditorState, type Plugin } from 'prosemirror-state'
import { EditorView, type NodeViewConstructor } from 'prosemirror-view'
import { initProseMirrorDoc, ySyncPlugin } from 'y-prosemirror'
import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'
import { blockIds } from './block-ids.ts'
import { applyTo, readBeforeEdits } from './browser-caret.ts'
import { carets } from './carets.ts'
import { nodeViews } from './node-views.ts'
import { displayState, PageDisplay } from './page-display.ts'
import { type PageProblem, problemsOf } from './page-problems.ts'
import { clipboardParser } from './clipboard-parser.ts'
import { quietHtml } from './pasted-html.ts'
import { proseSchema } from './prose-schema.ts'
import { bindingOf, makeSafe } from './safe-binding.ts'
import { type LoadBlob, StoredImages } from './stored-images.ts'
import { undoHistory } from './undo-history.ts'

/** The document to edit, for example the result of `relay.open()` of @docrelay/client. Its content must be loaded before it is bound. */
export interface LiveDocument {
  readonly ydoc: Y.Doc
  /** Shows the carets of others; without it no carets are shown. */
  readonly awareness?: Awareness
}

export interface ProseOptions {
  /** The element into which the view is put. */
  readonly element: HTMLElement
  /** Shows the page read-only. Default false. */
  readonly readOnly?: boolean
  /** Loads stored images; without it their alternative text is shown. */
  readonly images?: LoadBlob
  /** Plugins of the application, for example key bindings. They come before those of the binding. */
  readonly plugins?: readonly Plugin[]
  /** Plugins that do not change the page, for example decorations. They also run while the page is read-only. */
  readonly viewPlugins?: readonly Plugin[]
  /** Node views that replace those of this package. */
  readonly nodeViews?: Readonly<Record<string, NodeViewConstructor>>
  /** DOM attributes of the editable element, for example `aria-label`. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Called whenever a new view shows the page, editable or read-only. */
  readonly onShown?: (binding: ProseBinding) => void
}

/** A prose page on the screen. */
export interface ProseBinding {
  /** The present view. A switch between editable and read-only makes a new one. */
  readonly view: EditorView
  /** The content that the schema cannot hold. While there is any, the page is read-only, and nothing of it is deleted. */
  readonly problems: readonly PageProblem[]
  /** Whether a person can edit the page now. */
  readonly isEditable: boolean
  /** Makes the page read-only or editable, for a level that changes while the page is open. */
  setReadOnly(readOnly: boolean): void
  /** Removes the view. The document stays as it is. */
  destroy(): void
}

/**
 * Shows a prose page of a live document in an editor, with everybody's edits and carets. Undo covers this person's own edits, including those
 * made in earlier views of the page.
 *
 * A page with content that this schema does not know is read-only, because the binding of y-prosemirror would delete such content for everybody.
 * The page also becomes read-only when such content arrives while it is open, and editable again when the content is gone.
 */
export function bindProse(doc: LiveDocument, pageId: string, options: ProseOptions): ProseBinding {
  return new PageBinding(doc, pageId, options)
}

class PageBinding implements ProseBinding {
  readonly #doc: LiveDocument
  readonly #fragment: Y.XmlFragment
  readonly #options: ProseOptions
  readonly #images: StoredImages | null
  /** The problems of each block that has any. */
  readonly #problems = new Map<unknown, readonly PageProblem[]>()
  #readOnly: boolean
  #view!: EditorView
  /** The page while it is read-only; `null` while it is bound to the editor. */
  #display: PageDisplay | null = null
  #isDestroyed = false
  #isPlanned = false
  /** Whether an edit of others could not be shown, so that the page is not bound any more. */
  #isBroken = false

  constructor(doc: LiveDocument, pageId: string, options: ProseOptions) {
    this.#doc = doc
    this.#fragment = doc.ydoc.getXmlFragment(`prose:${pageId}`)
    this.#options = options
    this.#readOnly = options.readOnly ?? false
    this.#images = options.images === undefined ? null : new StoredImages(options.images)
    for (const block of this.#fragment.toArray()) this.#check(block)
    // Registered before the view, so that it sees every change before y-prosemirror does.
    this.#fragment.observeDeep(this.#changed)
    this.#show()
  }

  get view(): EditorView {
    return this.#view
  }

  get problems(): readonly PageProblem[] {
    return [...this.#problems.values()].flat()
  }

  get isEditable(): boolean {
    return this.#display === null && !this.#isDestroyed
  }

  setReadOnly(readOnly: boolean): void {
    this.#readOnly = readOnly
    this.#showIfNeeded()
  }

  destroy(): void {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#fragment.unobserveDeep(this.#changed)
    this.#view.destroy()
    this.#images?.destroy()
  }

  get #shouldBind(): boolean {
    return !this.#readOnly && this.#problems.size === 0
  }

  #check(block: unknown): void {
    const problems = problemsOf(block, proseSchema)
    if (problems.length > 0) this.#problems.set(block, problems)
    else this.#problems.delete(block)
  }

  readonly #changed = (events: Y.YEvent<Y.XmlFragment>[]): void => {
    const blocks = new Set<unknown>()
    for (const event of events) {
      if (event.target === this.#fragment) {
        for (const { content } of event.changes.added) for (const block of content.getContent()) blocks.add(block)
        for (const { content } of event.changes.deleted) this.#problems.delete((content as Y.ContentType).type)
      } else blocks.add(this.#blockAround(event.target))
    }
    for (const block of blocks) this.#check(block)
    if (this.#display !== null) {
      this.#display.forget(events)
      return this.#plan()
    }
    if (this.#shouldBind) return // Unbinds within the transaction: the next observer, of y-prosemirror, would delete the content.
    bindingOf(this.#view.state).destroy()
    this.#plan()
  }

  #blockAround(part: Y.XmlFragment): unknown {
    let block: unknown = part
    while ((block as Y.XmlElement).parent !== this.#fragment) block = (block as Y.XmlElement).parent
    return block
  }

  /** Draws once after all events of the running task. A view cannot be replaced while Yjs calls its observers. */
  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    queueMicrotask(() => {
      this.#isPlanned = false
      if (this.#isDestroyed || this.#showIfNeeded()) return
      if (this.#isBroken) return this.#showAnew()
      if (this.#display === null) return
      const { state } = this.#view
      const page = this.#display.document()
      // A transaction cannot produce a page with an invalid block at the top level, so this makes a new state.
      const next = state.doc.canReplace(0, state.doc.childCount, page.content)
        ? state.apply(state.tr.replaceWith(0, state.doc.content.size, page.content))
        : EditorState.create({ doc: page, plugins: state.plugins })
      this.#view.updateState(next)
    })
  }

  #showIfNeeded(): boolean {
    if (this.#isDestroyed || this.#shouldBind === (this.#display === null)) return false
    this.#showAnew()
    return true
  }

  #showAnew(): void {
    this.#view.destroy()
    this.#show()
  }

  readonly #broken = (error: unknown): void => {
    this.#isBroken = true
    this.#plan()
    // Reported as an uncaught error in a microtask, so that Yjs still tells its other observers of the edit.
    queueMicrotask(() => {
      throw error
    })
  }

  #show(): void {
    this.#isBroken = false
    this.#display = this.#shouldBind ? null : new PageDisplay(this.#fragment)
    const { element, attributes, nodeViews: own, onShown } = this.#options
    const isEditable = this.#display === null
    this.#view = new EditorView(element, {
      state: this.#display === null ? this.#boundState() : displayState(this.#display, this.#viewPlugins()),
      editable: () => isEditable,
      attributes: { ...attributes, 'aria-readonly': String(!isEditable) },
      nodeViews: { ...nodeViews(this.#images), ...own },
      transformPastedHTML: quietHtml,
      clipboardParser,
      // A binding may still report a change after its view is gone.
      dispatchTransaction(this: EditorView, transaction) {
        if (!this.isDestroyed) applyTo(this, transaction)
      },
    })
    onShown?.(this)
  }

  #boundState(): EditorState {
    const { doc, mapping } = initProseMirrorDoc(this.#fragment, proseSchema)
    const binding = [
      readBeforeEdits(this.#doc.ydoc),
      ySyncPlugin(this.#fragment, { mapping }),
      ...this.#viewPlugins(),
      undoHistory(this.#fragment),
      blockIds(),
    ] as Plugin[]
    const state = EditorState.create({
      schema: proseSchema,
      // A page without blocks is edited as one empty paragraph, which the first edit stores.
      ...(doc.childCount > 0 ? { doc } : {}),
      plugins: [...(this.#options.plugins ?? []), ...binding],
    })
    makeSafe(state, this.#fragment, this.#broken)
    return state
  }

  #viewPlugins(): Plugin[] {
    return [...(this.#doc.awareness === undefined ? [] : [carets(this.#doc.awareness)]), ...(this.#options.viewPlugins ?? [])]
  }
}
