import { useEffect, useRef } from 'preact/hooks'

/** Keeps what stands in a field when the page is closed or loaded anew, before the page asks whether everything is saved. */
export function useBeforeUnload(keep: () => void): void {
  const latest = useRef(keep)
  latest.current = keep
  useEffect(() => {
    const unload = (): void => latest.current()
    addEventListener('beforeunload', unload, { capture: true })
    return () => removeEventListener('beforeunload', unload, { capture: true })
  }, [])
}
