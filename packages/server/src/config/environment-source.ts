import { editDistance, likelyMeant } from '@docrelay/model/nearest'
import type { Given } from './given.ts'
import { printable, type Problem } from './problem.ts'
import { CONFIG_KEYS } from './schema.ts'

/**
 * Values from the environment. A secret may be in a file instead, which the caller reads. An empty variable counts as
 * unset. [CFG-3, CFG-4]
 */
export interface EnvironmentReading {
  readonly given: readonly Given[]
  readonly secretFiles: readonly { readonly given: Given; readonly path: string }[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

export type Environment = Readonly<Record<string, string | undefined>>

export function readEnvironment(env: Environment): EnvironmentReading {
  const given: Given[] = []
  const secretFiles: { given: Given; path: string }[] = []
  const problems: Problem[] = []
  for (const entry of CONFIG_KEYS) {
    const name = entry.key.env
    const value = env[name] ?? ''
    const path = entry.key.secret === true ? (env[`${name}_FILE`] ?? '') : ''
    if (value !== '' && path !== '') {
      problems.push({
        source: name,
        subject: entry.label,
        problem: `both ${name} and ${name}_FILE are set`,
        got: '<redacted>',
        allowed: 'one of them',
      })
    } else if (value !== '') {
      given.push({ entry, raw: value, asText: true, source: name, kind: 'environment' })
    } else if (path !== '') {
      secretFiles.push({ given: { entry, raw: undefined, asText: true, source: `${name}_FILE`, kind: 'secret-file' }, path })
    }
  }
  return { given, secretFiles, problems, warnings: likelyTypos(env) }
}

const NAMES: readonly string[] = CONFIG_KEYS.flatMap(({ key }) =>
  key.secret === true ? [key.env, `${key.env}_FILE`] : [key.env],
)

/**
 * Returns a warning for each unknown RELAY_ variable whose name is close to a known one. Other unknown ones are ignored, because orchestrators add some
 * for a service named relay.
 */
function likelyTypos(env: Environment): readonly string[] {
  const warnings: string[] = []
  for (const name of Object.keys(env)) {
    if (!name.startsWith('RELAY_') || NAMES.includes(name)) continue
    const closest = likelyMeant(name, NAMES)
    if (closest !== null && editDistance(name.slice(0, 64), closest) <= 2)
      warnings.push(`${printable(name)}: unknown variable, the nearest known one is ${closest}`)
  }
  return warnings
}
