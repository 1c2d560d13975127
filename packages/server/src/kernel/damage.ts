import { RelayError } from './errors.ts'

/** The part of a document that is not what was stored; `row`: what is kept of it beside its content. */
export type DamagedPart = 'log' | 'body' | 'row'

/** A client that tries again every minute meets the mended document soon enough. */
export const DAMAGED_RETRY_MS = 60_000

/** What is damaged and what helps. `id` of the document, `null` where it is not known. [LIFE-5, CFG-11] */
export function damageText(part: DamagedPart, id: string | null): string {
  return `the stored ${part} of the document is damaged, and waiting does not help: the operator ${remedy(part, id)}`
}

/** The answer for a document that waiting does not mend. [REST-13] */
export class DamageError extends RelayError {
  constructor(part: DamagedPart, id: string | null) {
    const text = damageText(part, id)
    super('UNAVAILABLE', `T${text.slice(1)}.`, { damagedPart: part, retryAfterMs: DAMAGED_RETRY_MS })
    this.name = 'DamageError'
  }
}

/** Which part is damaged, also by an error that came from another thread; `null` for any other error. */
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
