const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
const digits = new Map<string, Intl.NumberFormat>()

/** Formats a number of bytes for people, in powers of 1000 with three digits: `1.5 MB`. */
export function formatBytes(count: number, language = 'en'): string {
  const step = Math.max(0, Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, Math.abs(count))) / 3)))
  // Rounds before the choice of the unit, or 999,950 bytes would be shown as 1,000 kB.
  const rounded = Number((count / 1000 ** step).toPrecision(3))
  const [value, unit] = rounded >= 1000 && step < UNITS.length - 1 ? [1, step + 1] : [rounded, step]
  return formatOf(UNITS[unit] as string, language).format(value)
}

function formatOf(unit: string, language: string): Intl.NumberFormat {
  const known = digits.get(unit + language)
  if (known !== undefined) return known
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  const made = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay, maximumSignificantDigits: 3 })
  digits.set(unit + language, made)
  return made
}
