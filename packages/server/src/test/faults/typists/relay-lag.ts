import type { RelayUnderTest } from '../../relay-under-test.ts'

export interface Lag {
  /** Called when people begin to type. Earlier delays do not count. */
  begin(): Promise<void>
  /** Called when people have stopped typing. */
  end(): Promise<void>
  /** The longest delay while people typed. */
  readonly worstMs: number
}

/** Watches the delay of the relay's main loop. The relay reports the longest delay since the last request. [AG-97] */
export function watchLag(relay: RelayUnderTest): Lag {
  let worstSecs = 0
  let timer: ReturnType<typeof setInterval> | undefined
  const ask = async (counts: boolean): Promise<void> => {
    const text = await relay
      .fetch('/metrics')
      .then((answer) => answer.text())
      // The relay may be down after a kill.
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
