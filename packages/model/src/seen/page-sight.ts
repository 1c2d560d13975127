import { blockStamp } from '../prose/block-stamp.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import type { Stamp } from '../stamps/stamp.ts'
import type { Changer, Seen, SeenOutline } from './seen.ts'
import { partId, partsOf, readShownBlock, type ShownBlock } from './shown.ts'

/** How a stored block compares with the block that the caller was shown. `unknown`: the caller was shown no such block. */
export type Sight = 'same' | 'changed' | 'unknown'

/** The blocks that a caller saw of one page, and who else changed blocks of the page. [AG-17, AG-20] */
export class PageSight {
  /** Whether the caller was shown every block that the page had then. */
  readonly isWhole: boolean
  private readonly byId = new Map<string, Stamp>()
  private readonly nameless = new Set<Stamp>()
  private readonly changers = new Map<string, Changer>()
  private readonly removed = new Set<string>()
  private readonly outline: SeenOutline

  constructor(seen: Seen | undefined, pageId: string) {
    const page = seen?.pages.find((one) => one.pageId === pageId)
    this.isWhole = page?.isWhole === true
    this.outline = page?.outline ?? []
    for (const shown of page?.blocks ?? []) {
      const { id, stamp } = readShownBlock(shown)
      if (id === null) this.nameless.add(stamp)
      else this.byId.set(id, stamp)
    }
    // `seen.changes` lists the latest change first, so the first change of a block counts.
    for (const { kind, pageId: where, id, isRemoved, who } of seen?.changes ?? [])
      if (kind === 'block' && where === pageId && id !== null && !this.changers.has(id)) {
        this.changers.set(id, who)
        if (isRemoved) this.removed.add(id)
      }
  }

  of(block: ProseElement): Sight {
    const id = partId(block)
    // A block without id may have got an id after it was shown, so unknown ids are looked up by stamp.
    const stamp = id === null ? undefined : this.byId.get(id)
    if (stamp !== undefined) return stamp === blockStamp(block) ? 'same' : 'changed'
    return this.nameless.size > 0 && this.nameless.has(blockStamp(block)) ? 'same' : 'unknown'
  }

  /** Returns the heading that the caller was last shown at an index; `null` when no such heading is known. [AG-79] */
  headingAt(index: number): ShownBlock | null {
    return this.outline[index] ?? null
  }

  /** Returns who else changed or removed a block last; `undefined` when nobody is known. */
  changer(id: string | null): Changer | undefined {
    return id === null ? undefined : this.changers.get(id)
  }

  /** Returns who removed a block; `undefined` when nobody is known. [AG-8] */
  remover(id: string): Changer | undefined {
    return this.removed.has(id) ? this.changers.get(id) : undefined
  }

  /** Returns the ids that the caller was shown and that the page no longer has. */
  missing(tree: ProseTree): readonly string[] {
    const present = new Set(Array.from(partsOf(tree), partId))
    return [...this.byId.keys()].filter((id) => !present.has(id))
  }
}

export function changedBy(who: Changer | undefined): { readonly changedBy?: Changer } {
  return who === undefined ? {} : { changedBy: who }
}

export function removedBy(who: Changer | undefined): { readonly removedBy?: Changer } {
  return who === undefined ? {} : { removedBy: who }
}
