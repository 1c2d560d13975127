import { join } from 'node:path'
import { camelCase, type Config } from './config.ts'
import { CONTRADICTIONS } from './contradictions.ts'
import type { Given } from './given.ts'
import { type Problem, shown } from './problem.ts'
import { CONFIG_KEYS, type KeyEntry } from './schema.ts'
import { type ConfigValue, readValue } from './values.ts'

/** The effective value of one key and where it came from. An unlimited 0 is shown as 0. */
export interface Setting {
  readonly entry: KeyEntry
  readonly value: ConfigValue
  readonly source: string
  readonly kind: Given['kind']
}

export type Resolved =
  | { readonly kind: 'resolved'; readonly config: Config; readonly settings: readonly Setting[] }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }

/**
 * Settles what is in effect from everything that was given, highest precedence first, or says all that is wrong, together with the problems
 * that reading the sources has found already. [CFG-3, CFG-5]
 * Every value is judged, also one that another source overrides. `fileIsKnown` is false when the file could not be read: what it may
 * have said is then not called missing or contradictory.
 */
export function resolveConfig(given: readonly Given[], found: readonly Problem[], fileIsKnown: boolean): Resolved {
  const problems = [...found]
  const bad = new Set(found.map((problem) => problem.subject))
  const settings = withDerived(CONFIG_KEYS.map((entry) => decide(entry, given, problems, bad, fileIsKnown)))
  const config = buildConfig(settings)
  if (fileIsKnown) problems.push(...contradictions(config, settings, bad))
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'resolved', config, settings }
}

/** Judges every value given for a key; the first source in order of precedence is the effective one. */
function decide(entry: KeyEntry, given: readonly Given[], problems: Problem[], bad: Set<string>, fileIsKnown: boolean): Setting {
  let effective: Setting | null = null
  for (const candidate of given) {
    if (candidate.entry !== entry) continue
    const reading = readValue(entry.key, candidate.raw, candidate.asText)
    if (reading.kind === 'bad') {
      problems.push({
        source: candidate.source,
        subject: entry.label,
        problem: reading.problem,
        got: shown(entry, candidate.raw),
        allowed: reading.allowed,
      })
      bad.add(entry.label)
    } else if (effective === null) {
      effective = { entry, value: reading.value, source: candidate.source, kind: candidate.kind }
    }
  }
  effective ??= { entry, value: entry.key.default, source: 'default', kind: 'default' }
  if (effective.value === null && entry.key.required === true && !bad.has(entry.label) && fileIsKnown) {
    problems.push({ ...place(effective), problem: 'not set', allowed: `a value here or in ${entry.key.env}` })
    bad.add(entry.label)
  }
  return effective
}

/** A contradiction over a value that is bad by itself is not worth a line. [CFG-6] */
function contradictions(config: Config, settings: readonly Setting[], bad: ReadonlySet<string>): readonly Problem[] {
  return CONTRADICTIONS.flatMap((rule) => {
    if ([rule.about, ...rule.with].some((label) => bad.has(label)) || !rule.broken(config)) return []
    const setting = settings.find(({ entry }) => entry.label === rule.about)
    return setting === undefined ? [] : [{ ...place(setting), problem: rule.problem, allowed: rule.allowed }]
  })
}

function place(setting: Setting): Pick<Problem, 'source' | 'subject' | 'got'> {
  // A default is public, also that of a secret.
  const isDefault = setting.kind === 'default' && setting.value !== null
  return {
    source: setting.source,
    subject: setting.entry.label,
    got: isDefault ? String(setting.value) : shown(setting.entry, setting.value),
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

/** Settings as the typed value; the only place where an unlimited 0 becomes `null`. [CFG-8] */
function buildConfig(settings: readonly Setting[]): Config {
  const sections: Record<string, Record<string, ConfigValue>> = {}
  for (const { entry, value } of settings) {
    const unlimited = entry.key.kind === 'integer' && entry.key.zero === 'unlimited' && value === 0
    const section = (sections[entry.section] ??= {})
    section[camelCase(entry.name)] = unlimited ? null : value
  }
  const { 'tenancy.limits': limits, ...rest } = sections
  // The table that made the settings also made the type.
  return { ...rest, tenancy: { ...rest['tenancy'], limits } } as unknown as Config
}
