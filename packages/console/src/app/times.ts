const STEPS = [
  { unit: 'second', ms: 1000, upTo: 60 },
  { unit: 'minute', ms: 60_000, upTo: 60 },
  { unit: 'hour', ms: 3_600_000, upTo: 24 },
  { unit: 'day', ms: 86_400_000, upTo: 30 },
] as const

/** Formats a distance in time for people: `3 minutes ago`, `in 2 days`; from 30 days on, the date. Times are in ms. */
export function formatAge(atMs: number, nowMs: number, language = 'en'): string {
  const words = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const distance = Math.abs(atMs - nowMs)
  for (const { unit, ms, upTo } of STEPS) {
    // Times in the future are rounded: one second after its creation, a link of a week ends in 7 days, not in 6.
    const count = atMs > nowMs ? Math.round(distance / ms) : Math.floor(distance / ms)
    if (count >= upTo) continue
    // Less than five seconds count as "now".
    if (unit === 'second') return words.format(count < 5 ? 0 : atMs < nowMs ? -count : count, unit)
    return words.format(atMs < nowMs ? -count : count, unit)
  }
  return formatDate(atMs, language)
}

/** Formats a date such as `Nov 23, 2026`, in the time zone of the browser unless `timeZone` is given. */
export function formatDate(atMs: number, language = 'en', timeZone?: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', ...(timeZone && { timeZone }) }).format(atMs)
}

/** Formats date and time such as `Nov 23, 2026, 7:31 AM`. */
export function formatMoment(atMs: number, language = 'en', timeZone?: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', ...(timeZone && { timeZone }) }).format(
    atMs,
  )
}
