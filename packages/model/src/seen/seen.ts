import type { ShownBlock } from './shown.ts'

/** Somebody who changed a block. [AG-21] */
export interface Changer {
  readonly id: string
  readonly kind: 'person' | 'agent'
  readonly name?: string
}

/** By index, the headings that a caller was shown; `null` for an index at which no heading was shown. */
export type SeenOutline = readonly (ShownBlock | null)[]

/** One page as a caller last saw it. */
export interface SeenPage {
  readonly pageId: string
  /** Whether the caller was shown every block of the page. */
  readonly isWhole: boolean
  readonly blocks: readonly ShownBlock[]
  /** The headings that the caller was last shown, by index. */
  readonly outline?: SeenOutline
}

/** The last change of a block, shape, page or document by somebody else than the caller. */
export interface SeenChange {
  readonly kind: 'block' | 'shape' | 'page' | 'document'
  readonly pageId: string
  readonly id: string | null
  readonly isRemoved: boolean
  readonly who: Changer
}

/**
 * What the relay knows about the caller of an edit: what the caller saw of the pages, and what others changed there. Plain data. [AG-17, AG-20]
 */
export interface Seen {
  readonly pages: readonly SeenPage[]
  readonly changes: readonly SeenChange[]
  /** Whether a write of a whole page by a caller that was not shown the page gets a warning or is refused. [AG-26] */
  readonly blind: 'warn' | 'refuse'
}
