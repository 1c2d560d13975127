import type { LiveDocument } from '@docrelay/client'
import type { EditorView } from 'prosemirror-view'
import { positionOf } from './places.ts'
import { shownOf } from './shown-page.ts'

/** Scrolls along with the caret of somebody, from now on until `null` or until this person types or scrolls. `client`: of awareness. */
export function follow(document: LiveDocument, client: number | null): void {
  shownOf(document).followed.value = client
}

/** Who is followed in this tab, as an awareness client; a signal. */
export function followed(document: LiveDocument) {
  return shownOf(document).followed
}

/** Keeps the caret of the followed person on the screen, and leads to the page on which it is. */
export class Following {
  readonly #document: LiveDocument
  readonly #pageId: string
  readonly #view: () => EditorView
  readonly #ends: (() => void)[] = []
  #shownAt: number | null = null

  constructor(document: LiveDocument, pageId: string, view: () => EditorView) {
    this.#document = document
    this.#pageId = pageId
    this.#view = view
    const { awareness } = document
    const { user } = awareness.getLocalState() ?? {}
    if (user !== undefined) awareness.setLocalStateField('user', { ...(user as object), page: pageId })
    const look = () => this.refresh()
    awareness.on('change', look)
    const stop = () => follow(document, null)
    const place = view().dom.parentElement
    const moves: readonly [EventTarget | null, string][] = [
      [window, 'wheel'],
      [window, 'touchmove'],
      [place, 'pointerdown'],
      [place, 'keydown'],
    ]
    for (const [target, type] of moves) target?.addEventListener(type, stop, { passive: true })
    this.#ends.push(
      () => awareness.off('change', look),
      followed(document).subscribe(() => {
        this.#shownAt = null
        look()
      }),
      () => {
        for (const [target, type] of moves) target?.removeEventListener(type, stop)
      },
    )
  }

  /** Shows where the followed person is now. */
  refresh(): void {
    const client = followed(this.#document).value
    if (client === null) return
    const state = this.#document.awareness.getStates().get(client) as
      | { readonly user?: { readonly page?: unknown }; readonly cursor?: { readonly head?: unknown } | null }
      | undefined
    if (state === undefined) return follow(this.#document, null)
    // On another page the document view goes there first.
    const page = state.user?.page
    if (typeof page === 'string' && page !== this.#pageId) return
    const at = positionOf(this.#view(), state.cursor?.head)
    if (at === null || at === this.#shownAt) return
    this.#shownAt = at
    this.scrollTo(at)
  }

  /** Brings a position of the page into the middle of the screen. */
  scrollTo(at: number): void {
    const view = this.#view()
    const { node, offset } = view.domAtPos(Math.min(at, view.state.doc.content.size))
    const place =
      node instanceof Element ? (node.children[Math.min(offset, node.children.length - 1)] ?? node) : node.parentElement
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    place?.scrollIntoView({ block: 'center', behavior: isCalm ? 'auto' : 'smooth' })
  }

  destroy(): void {
    for (const end of this.#ends) end()
  }
}
