import type { LiveDocument } from '@docrelay/client'
import { type Signal, signal } from '@preact/signals'

/** A heading of a page, as the outline lists it. */
export interface Heading {
  readonly level: number
  readonly text: string
}

/** The prose page on the screen, for the panels beside it. */
export interface ShownPage {
  readonly pageId: string
  readonly headings: Signal<readonly Heading[]>
  /** Scrolls to a heading, by its number in `headings`, and puts the caret there. */
  show(index: number): void
}

interface Shown {
  readonly page: Signal<ShownPage | null>
  /** The awareness client of the person whose caret this tab follows. */
  readonly followed: Signal<number | null>
  /** Files that were dropped onto a canvas page, until the files panel takes them. */
  readonly dropped: Signal<readonly File[]>
}

// A WeakMap: an entry lives as long as its document is open.
const shown = new WeakMap<LiveDocument, Shown>()

/** Returns what this tab shows of a document. `page` is null while no prose page is shown. */
export function shownOf(document: LiveDocument): Shown {
  const known = shown.get(document)
  if (known !== undefined) return known
  const made = {
    page: signal<ShownPage | null>(null),
    followed: signal<number | null>(null),
    dropped: signal<readonly File[]>([]),
  }
  shown.set(document, made)
  return made
}
