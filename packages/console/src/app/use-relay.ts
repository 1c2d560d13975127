import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ErrorWords } from './error-texts.en.ts'
import { wordsOf } from './error-words.ts'

export interface Loaded<T> {
  /** `null` until it is here; the last value while a newer one is on its way. */
  readonly value: T | null
  readonly problem: ErrorWords | null
  readonly reload: () => void
}

/** Loads something when a view is shown, when `inputs` change, and by `reload`. What comes after the view is gone is dropped. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [value, setValue] = useState<T | null>(null)
  const [problem, setProblem] = useState<ErrorWords | null>(null)
  const [round, setRound] = useState(0)
  const reload = useCallback(() => setRound((count) => count + 1), [])
  useEffect(() => {
    const left = new AbortController()
    load(left.signal).then(
      (loaded) => {
        if (left.signal.aborted) return
        setValue(loaded)
        setProblem(null)
      },
      (error: unknown) => {
        if (!left.signal.aborted) setProblem(wordsOf(error))
      },
    )
    return () => left.abort()
  }, [...inputs, round])
  return { value, problem, reload }
}

export interface Action {
  readonly isRunning: boolean
  readonly problem: ErrorWords | null
  /** Starts the work unless the last one still runs; an error becomes `problem`. */
  readonly run: (work: () => Promise<void>) => void
  readonly forget: () => void
}

/** One thing at a time that a person starts by a button. */
export function useAction(): Action {
  const [isRunning, setRunning] = useState(false)
  const [problem, setProblem] = useState<ErrorWords | null>(null)
  const running = useRef(false)
  const run = useCallback((work: () => Promise<void>) => {
    if (running.current) return
    running.current = true
    setRunning(true)
    setProblem(null)
    work()
      .catch((error: unknown) => setProblem(wordsOf(error)))
      .finally(() => {
        running.current = false
        setRunning(false)
      })
  }, [])
  const forget = useCallback(() => setProblem(null), [])
  return { isRunning, problem, run, forget }
}
