import type { Config } from './config/config.ts'
import type { Clock } from './kernel/clock.ts'
import type { Random } from './kernel/ids.ts'
import type { Logger } from './kernel/log.ts'

export interface RunningRelay {
  readonly listeners: readonly { readonly name: string; readonly url: string }[]
  /** Stops as LIFE-28 rules; `overrun` when the grace was not enough. */
  drain(): Promise<'clean' | 'overrun'>
}

export async function startRelay(_options: { config: Config; log: Logger; clock: Clock; random: Random }): Promise<RunningRelay> {
  throw new Error('the service is not composed yet')
}
