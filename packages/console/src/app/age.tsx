import { useEffect, useState } from 'preact/hooks'
import { formatAge, formatMoment } from './times.ts'

const RENEW_MS = 20_000

/** Shows a moment as its distance from now, which grows while the page is open. The tooltip shows the exact time. */
export function Age({ at, now }: { readonly at: number; readonly now: () => number }) {
  const [, draw] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => draw((count) => count + 1), RENEW_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <time dateTime={new Date(at).toISOString()} title={formatMoment(at)}>
      {formatAge(at, now())}
    </time>
  )
}
