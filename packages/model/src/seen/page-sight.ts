import { blockStamp } from '../prose/block-stamp.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import type { Stamp } from '../stamps/stamp.ts'
import type { Changer, Seen, SeenOutline } from './seen.ts'
import { partId, partsOf, readShownBlock, type ShownBlock } from './shown.ts'

/** How a stored block compares with what the caller was shown. `unknown`: it was shown no such block. */
export type Sight = 'same' | 'changed' | 'unknown'

/** What a caller saw of one page, and who else changed blocks there. [AG-17, AG-20] */
export class PageSight {
  /** Every block of the page was shown, as far as its blocks were there. */
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
    // The latest change stands first.
    for (const { kind, pageId: where, id, isRemoved, who } of seen?.changes ?? [])
      if (kind === 'block' && where === pageId && id !== null && !this.changers.has(id)) {
        this.changers.set(id, who)
        if (isRemoved) this.removed.add(id)
      }
  }

  of(block: ProseElement): Sight {
    const id = partId(block)
    // A block that had no id when it was shown may have got one.
    const stamp = id === null ? undefined : this.byId.get(id)
    if (stamp !== undefined) return stamp === blockStamp(block) ? 'same' : 'changed'
    return this.nameless.size > 0 && this.nameless.has(blockStamp(block)) ? 'same' : 'unknown'
  }

  /** The heading that the caller was last shown at an index; `null`: none, as far as is known. [AG-79] */
  headingAt(index: number): ShownBlock | null {
    return this.outline[index] ?? null
  }

  /** Who changed or removed a block last; `undefined`: nobody else, as far as is known. */
  changer(id: string | null): Changer | undefined {
    return id === null ? undefined : this.changers.get(id)
  }

  /** Who removed a block; `undefined`: nobody, as far as is known. [AG-8] */
  remover(id: string): Changer | undefined {
    return this.removed.has(id) ? this.changers.get(id) : undefined
  }

  /** Ids that the caller was shown and that the page has no more. */
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
