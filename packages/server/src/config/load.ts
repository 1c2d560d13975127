import { join, resolve } from 'node:path'
import { camelCase, type Config } from './config.ts'
import { CONTRADICTIONS, configWarnings } from './contradictions.ts'
import { type Environment, readEnvironment } from './environment-source.ts'
import { type FileReading, MAX_FILE_BYTES, readConfigFile } from './file-source.ts'
import { readAtMost } from './files.ts'
import type { Given } from './given.ts'
import { printable, type Problem, shown } from './problem.ts'
import { CONFIG_KEYS, type KeyEntry } from './schema.ts'
import { type ConfigValue, integerRange, readValue } from './values.ts'

export const DEFAULT_CONFIG_FILE = 'relay.toml'
const MAX_SECRET_BYTES = 65_536

export interface LoadRequest {
  /** Options of the command line by name, e.g. `--port`. */
  readonly options: Readonly<Record<string, string | undefined>>
  readonly env: Environment
  /** The file named with `--config`; `undefined` is `relay.toml`, which may be missing. */
  readonly configPath: string | undefined
  /** Relative paths are found from here. */
  readonly cwd: string
}

/** The effective value of one key and where it came from. An unlimited 0 is shown as 0. */
export interface Setting {
  readonly entry: KeyEntry
  readonly value: ConfigValue
  readonly source: string
  readonly kind: Given['kind']
}

export type Loaded =
  | {
      readonly kind: 'loaded'
      readonly config: Config
      readonly settings: readonly Setting[]
      readonly warnings: readonly string[]
    }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[]; readonly warnings: readonly string[] }

/**
 * Reads command line, environment and file, in that precedence, over the defaults. [CFG-3, CFG-4]
 * Every value that is given is judged, also one that another source overrides, and all problems come back at once. [CFG-5]
 * Reads files and nothing else: no port is bound, nothing is connected or written.
 */
export function loadConfig(request: LoadRequest): Loaded {
  const warnings: string[] = []
  const problems: Problem[] = []
  const environment = readEnvironment(request.env)
  const file = readFile(request, warnings)
  const secrets = environment.secretFiles.map(({ given, path }) => readSecretFile(given, path, request.cwd, problems, warnings))
  warnings.push(...environment.warnings)
  problems.push(...file.problems, ...environment.problems)

  const given = [
    ...optionsGiven(request.options),
    ...environment.given,
    ...secrets.flatMap((secret) => secret ?? []),
    ...file.given,
  ]
  const bad = new Set(problems.map((problem) => problem.subject))
  const settings = withDerived(CONFIG_KEYS.map((entry) => decide(entry, given, problems, bad)))
  const config = buildConfig(settings)
  for (const contradiction of CONTRADICTIONS) {
    if (bad.has(contradiction.about) || contradiction.with.some((label) => bad.has(label)) || !contradiction.broken(config))
      continue
    const setting = settings.find((candidate) => candidate.entry.label === contradiction.about)
    if (setting !== undefined)
      problems.push({ ...place(setting), problem: contradiction.problem, allowed: contradiction.allowed })
  }
  if (problems.length > 0) return { kind: 'refused', problems, warnings }
  return { kind: 'loaded', config, settings, warnings: [...warnings, ...configWarnings(config)] }
}

function optionsGiven(options: LoadRequest['options']): readonly Given[] {
  return CONFIG_KEYS.flatMap((entry): Given[] => {
    const flag = entry.key.flag
    const raw = flag === undefined ? undefined : options[flag]
    return flag === undefined || raw === undefined ? [] : [{ entry, raw, asText: true, source: flag, kind: 'option' }]
  })
}

/** Judges every value given for a key; the first source in order of precedence is the effective one. */
function decide(entry: KeyEntry, given: readonly Given[], problems: Problem[], bad: Set<string>): Setting {
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
  if (effective.value === null && entry.key.required === true && !bad.has(entry.label)) {
    problems.push({ ...place(effective), problem: 'not set', allowed: `a value here or in ${entry.key.env}` })
    bad.add(entry.label)
  }
  return effective
}

function place(setting: Setting): Pick<Problem, 'source' | 'subject' | 'got'> {
  const got =
    setting.kind === 'default'
      ? setting.value === null
        ? 'nothing'
        : String(setting.value)
      : shown(setting.entry, setting.value)
  return { source: setting.source, subject: setting.entry.label, got }
}

function readFile(request: LoadRequest, warnings: string[]): FileReading {
  const name = request.configPath ?? DEFAULT_CONFIG_FILE
  const content = readAtMost(resolve(request.cwd, name), MAX_FILE_BYTES)
  if (content.kind === 'missing' && request.configPath === undefined) {
    warnings.push(`${DEFAULT_CONFIG_FILE}: not found, environment and defaults are used; \`relay init\` writes one`)
    return { given: [], problems: [] }
  }
  if (content.kind !== 'read') {
    const problem = content.kind === 'missing' ? 'file not found' : `cannot be read: ${content.reason}`
    return { given: [], problems: [{ source: name, subject: '', problem, got: 'nothing', allowed: 'a readable file' }] }
  }
  const reading = readConfigFile(name, content.bytes)
  if (content.worldReadable && reading.given.some(({ entry, raw }) => entry.key.secret === true && raw !== '')) {
    warnings.push(`${printable(name, 1000)}: holds a secret and is readable by everybody; set its mode to 0600`)
  }
  return reading
}

function readSecretFile(given: Given, path: string, cwd: string, problems: Problem[], warnings: string[]): Given | null {
  const content = readAtMost(resolve(cwd, path), MAX_SECRET_BYTES)
  const refuse = (problem: string): null => {
    problems.push({
      source: given.source,
      subject: given.entry.label,
      problem,
      got: printable(path, 200),
      allowed: 'a readable file with the secret',
    })
    return null
  }
  if (content.kind === 'missing') return refuse('file not found')
  if (content.kind === 'unreadable') return refuse(`file cannot be read: ${content.reason}`)
  if (content.bytes.length > MAX_SECRET_BYTES) return refuse(`file above ${MAX_SECRET_BYTES} bytes`)
  const secret = new TextDecoder().decode(content.bytes).replace(/\r?\n$/, '')
  if (secret === '') return refuse('file is empty')
  if (content.worldReadable)
    warnings.push(`${given.source}: ${printable(path, 1000)} is readable by everybody; set its mode to 0600`)
  return { ...given, raw: secret }
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

/** The values a key takes, for documents. */
export function allowedValues(entry: KeyEntry): string {
  const { key } = entry
  switch (key.kind) {
    case 'integer':
      return integerRange(key)
    case 'choice':
      return key.choices.join(', ')
    case 'boolean':
      return 'true, false'
    case 'list':
      return 'list'
    case 'text':
      return key.format
  }
}
