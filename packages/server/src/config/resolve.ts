import { join } from 'node:path'
import { ALLOWED_TEXTS } from './addresses.ts'
import { camelCase, type Config } from './config.ts'
import { CONTRADICTIONS } from './contradictions.ts'
import type { Given } from './given.ts'
import { type Problem, shown } from './problem.ts'
import { CONFIG_KEYS, type KeyEntry } from './schema.ts'
import { allowedValues, type ConfigValue, readValue } from './values.ts'

/** The effective value of one key and its source. An unlimited 0 is still 0. */
export interface Setting {
  readonly entry: KeyEntry
  readonly value: ConfigValue
  readonly source: string
  /** Line of the file, where it is known. */
  readonly line?: number
  readonly kind: Given['kind']
}

export type Resolved =
  | { readonly kind: 'resolved'; readonly config: Config; readonly settings: readonly Setting[] }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }

/**
 * Decides the effective configuration from all given values, highest precedence first, or returns every problem,
 * including those that reading the sources has found. [CFG-3, CFG-5] Every given value is checked, also one that
 * another source overrides. When `fileIsKnown` is false, the file could not be read, and its keys are not reported as
 * missing or contradictory.
 */
export function resolveConfig(given: readonly Given[], found: readonly Problem[], fileIsKnown: boolean): Resolved {
  const problems = [...found]
  const bad = new Set(found.map((problem) => problem.subject))
  const settings = withDerived(CONFIG_KEYS.map((entry) => decide(entry, given, problems, bad, fileIsKnown)))
  const config = buildConfig(settings)
  if (fileIsKnown) problems.push(...contradictions(config, settings, bad))
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'resolved', config, settings }
}

/** Checks every value given for a key; the first source in order of precedence gives the effective value. */
function decide(entry: KeyEntry, given: readonly Given[], problems: Problem[], bad: Set<string>, fileIsKnown: boolean): Setting {
  let effective: Setting | null = null
  for (const candidate of given) {
    if (candidate.entry !== entry) continue
    const reading = readValue(entry.key, candidate.raw, candidate.asText)
    if (reading.kind === 'bad') {
      problems.push({
        source: candidate.source,
        ...(candidate.line !== undefined && { line: candidate.line }),
        subject: entry.label,
        problem: reading.problem,
        got: shown(entry, candidate.raw, !candidate.asText),
        allowed: reading.allowed,
      })
      bad.add(entry.label)
    } else if (effective === null) {
      const { source, line, kind } = candidate
      effective = { entry, value: reading.value, source, ...(line !== undefined && { line }), kind }
    }
  }
  effective ??= { entry, value: entry.key.default, source: 'default', kind: 'default' }
  if (effective.value === null && entry.key.required === true && !bad.has(entry.label) && fileIsKnown) {
    problems.push({ ...place(effective), ...missing(effective) })
    bad.add(entry.label)
  }
  return effective
}

/** Returns the problem of a required key without a value: nobody set it, or somebody set it to an empty value. */
function missing({ entry, kind }: Setting): Pick<Problem, 'problem' | 'got' | 'allowed'> {
  const { key } = entry
  const allowed = key.kind === 'text' ? ALLOWED_TEXTS[key.format] : allowedValues(key)
  if (kind !== 'default') return { problem: 'empty, and the relay needs a value', got: '""', allowed }
  return { problem: 'not set, and the relay needs a value', got: 'nothing', allowed: `${allowed}; in the file or in ${key.env}` }
}

/** Returns the contradictions between values that are valid one by one. [CFG-6] */
function contradictions(config: Config, settings: readonly Setting[], bad: ReadonlySet<string>): readonly Problem[] {
  return CONTRADICTIONS.flatMap((rule) => {
    if ([rule.about, ...rule.with].some((label) => bad.has(label)) || !rule.broken(config)) return []
    const setting = settings.find(({ entry }) => entry.label === rule.about)
    return setting === undefined ? [] : [{ ...place(setting), problem: rule.problem, allowed: rule.allowed }]
  })
}

function place(setting: Setting): Pick<Problem, 'source' | 'line' | 'subject' | 'got'> {
  // A default may be shown, even the default of a secret key.
  const isDefault = setting.kind === 'default' && setting.value !== null
  return {
    source: setting.source,
    ...(setting.line !== undefined && { line: setting.line }),
    subject: setting.entry.label,
    got: isDefault ? String(setting.value) || 'nothing' : shown(setting.entry, setting.value),
  }
}

/** Fills in the defaults that depend on other keys. */
function withDerived(settings: readonly Setting[]): readonly Setting[] {
  const value = (label: string): ConfigValue => settings.find(({ entry }) => entry.label === label)?.value ?? null
  const dataDir = String(value('[storage].data_dir') ?? 'data')
  const derived: Readonly<Record<string, string | null>> = {
    '[storage].url': `sqlite:${join(dataDir, 'relay.db')}`,
    '[blobs].url': `file:${join(dataDir, 'blobs')}`,
    '[tenancy].workspace_id': value('[tenancy].mode') === 'shared' ? null : 'default',
  }
  return settings.map((setting) => {
    const fallback = derived[setting.entry.label]
    if (setting.value !== null || fallback === undefined || fallback === null) return setting
    return { entry: setting.entry, value: fallback, source: 'default', kind: 'default' }
  })
}

/** Builds the typed configuration. This is the only place where an unlimited 0 becomes `null`. [CFG-8] */
function buildConfig(settings: readonly Setting[]): Config {
  const sections: Record<string, Record<string, ConfigValue>> = {}
  for (const { entry, value } of settings) {
    const unlimited = entry.key.kind === 'integer' && entry.key.zero === 'unlimited' && value === 0
    const section = (sections[entry.section] ??= {})
    section[camelCase(entry.name)] = unlimited ? null : value
  }
  const { 'tenancy.limits': limits, ...rest } = sections
  // The settings and the type come from the same table.
  return { ...rest, tenancy: { ...rest['tenancy'], limits } } as unknown as Config
}
