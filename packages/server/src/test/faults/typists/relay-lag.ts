import type { RelayUnderTest } from '../../relay-under-test.ts'

export interface Lag {
  /** People begin to type: delays from before do not count. */
  begin(): Promise<void>
  /** They have stopped. */
  end(): Promise<void>
  /** The longest delay while people typed. */
  readonly worstMs: number
}

/** Watches the delay of the relay's main loop, of which the relay tells the longest since it was last asked. [AG-97] */
export function watchLag(relay: RelayUnderTest): Lag {
  let worstSecs = 0
  let timer: ReturnType<typeof setInterval> | undefined
  const ask = async (counts: boolean): Promise<void> => {
    const text = await relay
      .fetch('/metrics')
      .then((answer) => answer.text())
      // The relay may just be killed.
      .catch(() => '')
    const [, secs = '0'] = /^nodejs_eventloop_lag_seconds ([\d.e-]+)$/m.exec(text) ?? []
    if (counts) worstSecs = Math.max(worstSecs, Number(secs))
  }
  return {
    async begin() {
      await ask(false)
      timer = setInterval(() => void ask(true), 1_000)
    },
    async end() {
      clearInterval(timer)
      await ask(true)
    },
    get worstMs() {
      return worstSecs * 1_000
    },
  }
}
