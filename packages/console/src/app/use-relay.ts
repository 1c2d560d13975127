import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ErrorWords } from './error-texts.en.ts'
import { wordsOf } from './error-words.ts'

export interface Loaded<T> {
  /** The loaded value; `null` before the first load, the previous value during a reload. */
  readonly value: T | null
  readonly problem: ErrorWords | null
  readonly reload: () => void
}

/** Loads a value when a view is shown, when `inputs` change, and on `reload`. A result that arrives after the view is gone is dropped. */
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
  /** Starts the work unless earlier work still runs. An error becomes `problem`. */
  readonly run: (work: () => Promise<void>) => void
  readonly forget: () => void
}

/** Runs the actions that a person starts by a button, one at a time. */
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
