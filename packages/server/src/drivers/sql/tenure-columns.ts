import type { Tenure } from '../../sync/ownership.port.ts'
import type { OwnNode } from './engine.ts'
import type { Tables } from './tables.ts'

/** The columns of `log_heads` that hold the tenure. */
export type TenureColumns = Pick<Tables['log_heads'], 'owner' | 'epoch'>

/** Whether this process owns the document under `epoch`. [LIFE-26] */
export function isHeld({ inc }: OwnNode, epoch: number, row: TenureColumns): boolean {
  return inc !== null && row.owner === inc && row.epoch === epoch
}

/** Returns the tenure of a document; `null` when nobody owns it. */
export function tenureOf({ owner, epoch }: TenureColumns): Tenure | null {
  return owner === null || epoch === null ? null : { owner, epoch }
}
