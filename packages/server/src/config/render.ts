import { isSecret } from './problem.ts'
import type { KeyEntry } from './schema.ts'
import { CONFIG_KEYS } from './schema.ts'
import type { Setting } from './resolve.ts'
import { allowedValues, type ConfigValue } from './values.ts'

const WIDTH = 100

/**
 * Returns the file that `relay init` writes: every key with its default, in the order of the table. Empty text means no
 * value. [CFG-11]
 */
export function initialFile(): string {
  const lines = [
    '# Docrelay. Every key is listed with its default; environment variables and command line options override this file.',
    '# [auth] issuer and jwks_url have no default and must be set before the relay starts.',
    '# Every secret can also be read from a file: set <VARIABLE>_FILE to its path.',
  ]
  let section = ''
  for (const entry of CONFIG_KEYS) {
    if (entry.section !== section) {
      section = entry.section
      lines.push('', `[${section}]`)
    }
    lines.push(...wrapped(comment(entry)), `${entry.name} = ${tomlValue(entry.key.default)}`)
  }
  return `${lines.join('\n')}\n`
}

function comment(entry: KeyEntry): string {
  const { key } = entry
  const notes = [key.env]
  if (key.kind === 'integer') notes.push(key.unit, allowedValues(key))
  if (key.kind === 'choice') notes.push(allowedValues(key))
  if (key.kind === 'text' && key.derived !== undefined) notes.push(`empty: ${key.derived}`)
  if (key.secret === true) notes.push('secret')
  return `${key.doc} (${notes.join('; ')})`
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = []
  let line = '#'
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > WIDTH && line !== '#') {
      lines.push(line)
      line = '#'
    }
    line += ` ${word}`
  }
  return [...lines, line]
}

/** TOML spells texts and lists of texts as JSON does. */
function tomlValue(value: ConfigValue): string {
  return value === null ? '""' : JSON.stringify(value)
}

const REDACTED = '<redacted>'

/** Returns the part of a setting that may be shown: the default of a secret is public, its value is not. [CFG-4] */
function visible(setting: Setting): ConfigValue {
  if (setting.kind !== 'default' && setting.value !== null && isSecret(setting.entry, setting.value)) return REDACTED
  return typeof setting.value === 'string' ? withoutCredentials(setting.value) : setting.value
}

/** Hides credentials inside a URL of a key that is not secret, e.g. `https://user:pass@host`. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/?#\s]*@/g, `//${REDACTED}@`)
}

/** Returns the effective configuration as TOML, with the source of each value behind it. [CFG-11] */
export function printedSettings(settings: readonly Setting[]): string {
  const lines: string[] = []
  let section = ''
  for (const setting of settings) {
    if (setting.entry.section !== section) {
      if (section !== '') lines.push('')
      section = setting.entry.section
      lines.push(`[${section}]`)
    }
    const { key } = setting.entry
    const derived = setting.value === null && key.kind === 'text' && key.derived !== undefined ? `, ${key.derived}` : ''
    lines.push(`${setting.entry.name} = ${tomlValue(visible(setting))} # ${setting.source}${derived}`)
  }
  return `${lines.join('\n')}\n`
}

/** Returns the effective configuration for programs: section, then key, then `{ value, source }`. */
export function settingsJson(settings: readonly Setting[]): string {
  const root: Record<string, Record<string, { value: ConfigValue; source: string }>> = {}
  for (const setting of settings) {
    const section = (root[setting.entry.section] ??= {})
    section[setting.entry.name] = { value: visible(setting), source: setting.source }
  }
  return `${JSON.stringify(root, null, 2)}\n`
}
