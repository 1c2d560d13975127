import { useEffect, useRef } from 'preact/hooks'

/**
 * Calls `keep` to store the value of a field before the page unloads and asks about unsaved words, and on a change of the address before the view
 * closes its document.
 */
export function useBeforeLeaving(keep: () => void): void {
  const latest = useRef(keep)
  latest.current = keep
  useEffect(() => {
    const leave = (): void => latest.current()
    const events = ['beforeunload', 'hashchange']
    for (const event of events) addEventListener(event, leave, { capture: true })
    return () => {
      for (const event of events) removeEventListener(event, leave, { capture: true })
    }
  }, [])
}
