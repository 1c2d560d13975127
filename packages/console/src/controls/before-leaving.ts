import { useEffect, useRef } from 'preact/hooks'

/**
 * Keeps what stands in a field when the page is closed or loaded anew, before the page asks whether everything is saved, and when the address
 * changes, before what is shown for it closes the document.
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
