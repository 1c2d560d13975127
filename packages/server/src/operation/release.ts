import { readFileSync } from 'node:fs'

/** The running release. A packaged build sets `commit` and `built`; in a checkout they are `unknown`. [REST-30] */
export interface Release {
  readonly version: string
  readonly commit: string
  readonly built: string
}

export function readRelease(): Release {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Partial<Release>
  return { version: manifest.version ?? '0.0.0', commit: manifest.commit ?? 'unknown', built: manifest.built ?? 'unknown' }
}
