import type { ShownBlock } from './shown.ts'

/** Somebody who changed a block. [AG-21] */
export interface Changer {
  readonly id: string
  readonly kind: 'person' | 'agent'
  readonly name?: string
}

/** `null`: none was shown at this index. */
export type SeenOutline = readonly (ShownBlock | null)[]

/** One page as a caller last saw it. */
export interface SeenPage {
  readonly pageId: string
  /** Every block of the page was shown. */
  readonly isWhole: boolean
  readonly blocks: readonly ShownBlock[]
  /** By index, the heading that was last shown there. */
  readonly outline?: SeenOutline
}

/** Who changed a block or shape last, when it was not this caller. */
export interface SeenChange {
  readonly kind: 'block' | 'shape' | 'page' | 'document'
  readonly pageId: string
  readonly id: string | null
  readonly isRemoved: boolean
  readonly who: Changer
}

/**
 * What is known of the caller of an edit: what it saw of the pages that it writes, and what others changed there. Plain data. [AG-17, AG-20]
 */
export interface Seen {
  readonly pages: readonly SeenPage[]
  readonly changes: readonly SeenChange[]
  /** What becomes of a page that is written as a whole by a caller that was not shown it. [AG-26] */
  readonly blind: 'warn' | 'refuse'
}
