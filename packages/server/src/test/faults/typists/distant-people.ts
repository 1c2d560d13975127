import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RelayUnderTest } from '../../relay-under-test.ts'
import type { TypedCharacter } from './words.ts'

/**
 * People who type in a thread of their own, so that only the relay decides how long they wait for an ack. The main thread holds the copies of all
 * other people and is busy for up to a tenth of a second when a page is rewritten. [AG-97]
 */
export interface DistantPeople {
  /** The typed characters up to the last `stop`, in order. */
  readonly typed: readonly TypedCharacter[]
  /** Times from a keystroke to the ack of everything typed, in ms, up to the last `stop`. */
  readonly ackMs: readonly number[]
  type(): void
  /** Stops typing. Resolves when everything is saved. */
  stop(): Promise<void>
  close(): Promise<void>
}

/** The input of the thread. */
export interface DistantPlan {
  readonly wsUrl: string
  readonly docId: string
  readonly pageId: string
  readonly keystrokesPerSec: number
  readonly people: readonly { readonly number: number; readonly seed: number; readonly token: string }[]
}

export interface DistantlyTyped {
  readonly typed: readonly TypedCharacter[]
  readonly ackMs: readonly number[]
}

const TOKEN_SECS = 3_600

export async function openDistantPeople(
  relay: RelayUnderTest,
  plan: Omit<DistantPlan, 'wsUrl' | 'people'> & {
    readonly people: readonly { readonly number: number; readonly seed: number }[]
  },
): Promise<DistantPeople> {
  const { wsUrl } = relay
  const people = plan.people.map((one) => ({
    ...one,
    token: relay.token({ sub: `typist-${one.number}`, expiresInSec: TOKEN_SECS }),
  }))
  const workerData: DistantPlan = { ...plan, wsUrl, people }
  const thread = new Worker(new URL('./distant-people-thread.ts', import.meta.url), { workerData })
  await once(thread, 'message')
  let so: DistantlyTyped = { typed: [], ackMs: [] }
  return {
    get typed() {
      return so.typed
    },
    get ackMs() {
      return so.ackMs
    },
    type: () => thread.postMessage('type'),
    async stop() {
      thread.postMessage('stop')
      const [message] = (await once(thread, 'message')) as [DistantlyTyped]
      so = message
    },
    async close() {
      await thread.terminate()
    },
  }
}
