import { resolve } from 'node:path'
import type { Config } from './config.ts'
import { configWarnings } from './contradictions.ts'
import { type Environment, readEnvironment } from './environment-source.ts'
import { type FileReading, MAX_FILE_BYTES, readConfigFile } from './file-source.ts'
import { readAtMost } from './files.ts'
import type { Given } from './given.ts'
import { isSecret, printable, type Problem } from './problem.ts'
import { resolveConfig, type Setting } from './resolve.ts'
import { CONFIG_KEYS } from './schema.ts'

export const DEFAULT_CONFIG_FILE = 'relay.toml'
const MAX_SECRET_BYTES = 65_536

export interface LoadRequest {
  /** Options of the command line by name, e.g. `--port`. */
  readonly options: Readonly<Record<string, string | undefined>>
  readonly env: Environment
  /** The file given with `--config`; `undefined` means `relay.toml`, which may be missing. */
  readonly configPath: string | undefined
  /** Folder from which relative paths are resolved. */
  readonly cwd: string
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
 * Reads command line, environment and file, in this precedence, over the defaults. [CFG-3, CFG-4] Only reads files:
 * binds no port, connects nowhere and writes nothing. [CFG-5]
 */
export function loadConfig(request: LoadRequest): Loaded {
  const warnings: string[] = []
  const problems: Problem[] = []
  const environment = readEnvironment(request.env)
  const file = readFile(request, warnings)
  const secrets = environment.secretFiles.flatMap(
    ({ given, path }) => readSecretFile(given, path, request.cwd, problems, warnings) ?? [],
  )
  warnings.push(...environment.warnings)

  const given = [...optionsGiven(request.options), ...environment.given, ...secrets, ...file.given]
  const resolved = resolveConfig(given, [...problems, ...file.problems, ...environment.problems], file.known)
  if (resolved.kind === 'refused') return { ...resolved, warnings }
  return { ...resolved, kind: 'loaded', warnings: [...warnings, ...configWarnings(resolved.config)] }
}

function optionsGiven(options: LoadRequest['options']): readonly Given[] {
  return CONFIG_KEYS.flatMap((entry): Given[] => {
    const flag = entry.key.flag
    const raw = flag === undefined ? undefined : options[flag]
    return flag === undefined || raw === undefined ? [] : [{ entry, raw, asText: true, source: flag, kind: 'option' }]
  })
}

function readFile(request: LoadRequest, warnings: string[]): FileReading {
  const name = request.configPath ?? DEFAULT_CONFIG_FILE
  const content = readAtMost(resolve(request.cwd, name), MAX_FILE_BYTES)
  if (content.kind === 'missing' && request.configPath === undefined) {
    warnings.push(`${DEFAULT_CONFIG_FILE}: not found, environment and defaults are used; \`relay init\` writes one`)
    return { given: [], problems: [], known: true }
  }
  if (content.kind !== 'read') {
    const problem = content.kind === 'missing' ? 'file not found' : `cannot be read: ${content.reason}`
    return {
      given: [],
      problems: [{ source: name, subject: '', problem, got: 'nothing', allowed: 'a readable file' }],
      known: false,
    }
  }
  const reading = readConfigFile(name, content.bytes)
  if (content.worldReadable && reading.given.some(({ entry, raw }) => raw !== '' && isSecret(entry, raw))) {
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
