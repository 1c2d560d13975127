const DAY_MS = 86_400_000
const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i

/**
 * Parses an RFC 3339 date and time to ms since 1970; finer digits are dropped. `null` when the value has another form or is not a day of the
 * calendar.
 */
export function readRfc3339(value: unknown): number | null {
  const match = typeof value === 'string' && value.length <= 64 ? RFC_3339.exec(value) : null
  if (match === null) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const [offsetHours = 0, offsetMinutes = 0] = match.slice(9, 11).map((text) => Number(text ?? 0))
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return null
  const date = new Date(0)
  // The Date constructor would read a year below 100 as one of the last century.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null
  const offsetMs = (match[8] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000
  const fractionMs = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const atMs = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 - offsetMs
  // A leap second can only be at the end of a UTC day.
  if (second === 60 && atMs % DAY_MS !== 0) return null
  return atMs + fractionMs
}
