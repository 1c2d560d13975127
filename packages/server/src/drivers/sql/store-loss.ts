import { RefusedStart } from '../../kernel/refused-start.ts'

/**
 * Acknowledged writes that a store has lost. `log`: damage in the write-ahead log. `missing`, `older`, `replaced`: results of comparing the
 * store with the mark beside it. `tail`: a database server came back without its last commits.
 */
export interface StoreLoss {
  readonly kind: LossKind
  /** One sentence for the operator, without a final full stop. */
  readonly detail: string
}

export const LOSS_KINDS = ['log', 'missing', 'older', 'replaced', 'tail'] as const
export type LossKind = (typeof LOSS_KINDS)[number]

const REMEDY =
  'Copy the data directory, then restore a backup, or start once with `relay serve --accept-loss` to go on with what is left'

/** Thrown for a store that is not served until the operator accepts its losses. [LIFE-5, CFG-11] */
export class StoreLossError extends RefusedStart {
  constructor(path: string, losses: readonly StoreLoss[]) {
    super(
      `the store ${path} has lost acknowledged writes: ${losses.map(({ detail }) => detail).join('; ')}. Nothing was changed. ${REMEDY}`,
      REMEDY,
    )
    this.name = 'StoreLossError'
  }
}
