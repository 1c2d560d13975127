import { RelayError } from './errors.ts'

/** The damaged part of a stored document; `row`: its data other than log and body. */
export type DamagedPart = 'log' | 'body' | 'row'

/** Retry-After for a damaged document. A client that tries again every minute soon finds the repaired document. */
export const DAMAGED_RETRY_MS = 60_000

/** Returns a sentence that names the damaged part and the remedy. `id`: of the document; `null` when unknown. [LIFE-5, CFG-11] */
export function damageText(part: DamagedPart, id: string | null): string {
  return `the stored ${part} of the document is damaged, and waiting does not help: the operator ${remedy(part, id)}`
}

/** The error for a damaged document, which a retry does not repair. [REST-13] */
export class DamageError extends RelayError {
  constructor(part: DamagedPart, id: string | null) {
    const text = damageText(part, id)
    super('UNAVAILABLE', `T${text.slice(1)}.`, { damagedPart: part, retryAfterMs: DAMAGED_RETRY_MS })
    this.name = 'DamageError'
  }
}

/** Returns the damaged part that an error names, also an error from another thread; `null` for any other error. */
export function damagedPartOf(error: unknown): DamagedPart | null {
  if (!(error instanceof RelayError)) return null
  return (error.details['damagedPart'] as DamagedPart | undefined) ?? null
}

function remedy(part: DamagedPart, id: string | null): string {
  switch (part) {
    case 'log':
      return id === null ? 'runs `relay repair`' : `runs \`relay repair ${id}\``
    case 'body':
      return 'restores one of its recovery points or a backup'
    case 'row':
      return 'restores a backup'
  }
}
