import type { Clock } from '../../kernel/clock.ts'
import { fact, setFact } from './migrations/migrate.ts'
import type { StoreLoss } from './store-loss.ts'
import type { Connection } from './tables.ts'

/** Name of the row in `store_facts` with the losses that the operator accepted with `--accept-loss`. */
const ACCEPTED_LOSSES = 'accepted-losses'

/** Returns one sentence for each accepted loss, oldest first; backups list them. [CFG-11, OPS-9] */
export async function acceptedLosses(db: Connection): Promise<readonly string[]> {
  const value = await fact(db, ACCEPTED_LOSSES)
  return value === null ? [] : (JSON.parse(value) as string[])
}

/** Stores the accepted losses. They are durable when the promise resolves. */
export async function keepAcceptedLosses(writer: Connection, losses: readonly StoreLoss[], clock: Clock): Promise<void> {
  if (losses.length === 0) return
  const at = new Date(clock.nowMs()).toISOString()
  const kept = [...(await acceptedLosses(writer)), ...losses.map(({ detail }) => `accepted at ${at}: ${detail}`)]
  await setFact(writer, ACCEPTED_LOSSES, JSON.stringify(kept))
}
