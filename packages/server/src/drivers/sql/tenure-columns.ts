import type { Tenure } from '../../sync/ownership.port.ts'
import type { OwnNode } from './engine.ts'
import type { Tables } from './tables.ts'

/** The columns of a log's head that name the owner. */
export type TenureColumns = Pick<Tables['log_heads'], 'owner' | 'epoch'>

/** Whether this process owns the document since the acquisition `epoch`. [LIFE-26] */
export function isHeld({ inc }: OwnNode, epoch: number, row: TenureColumns): boolean {
  return inc !== null && row.owner === inc && row.epoch === epoch
}

/** `null` when nobody owns the document. */
export function tenureOf({ owner, epoch }: TenureColumns): Tenure | null {
  return owner === null || epoch === null ? null : { owner, epoch }
}
