import type { LiveDocument } from '@docrelay/client'
import type { EditorView } from 'prosemirror-view'
import { positionOf } from './places.ts'
import { shownOf } from './shown-page.ts'

/** The part of an awareness state that is read here. Any client can send anything. */
interface Present {
  readonly cursor?: { readonly head?: unknown } | null
}

/**
 * Keeps the caret of the followed person on the screen, until this person types, points or scrolls. The document view shows the page of that
 * caret.
 */
export class Following {
  readonly #document: LiveDocument
  readonly #view: () => EditorView
  readonly #ends: (() => void)[] = []
  #shownAt: number | null = null

  constructor(document: LiveDocument, view: () => EditorView) {
    this.#document = document
    this.#view = view
    const { awareness } = document
    const look = () => this.refresh()
    awareness.on('change', look)
    const { followed } = shownOf(document)
    const stop = () => {
      followed.value = null
    }
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
      followed.subscribe(() => {
        this.#shownAt = null
        look()
      }),
      () => {
        for (const [target, type] of moves) target?.removeEventListener(type, stop)
      },
    )
  }

  /** Scrolls to the followed person's caret, if it moved. */
  refresh(): void {
    const client = shownOf(this.#document).followed.value
    const state = client === null ? undefined : (this.#document.awareness.getStates().get(client) as Present | undefined)
    const at = positionOf(this.#view(), state?.cursor?.head)
    if (at === null || at === this.#shownAt) return
    this.#shownAt = at
    this.scrollTo(at)
  }

  /** Scrolls a position of the page into the middle of the screen. */
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
