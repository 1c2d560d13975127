import { readFileSync } from 'node:fs'

/** What runs. `commit` and `built` are written by a packaged build; a checkout says `unknown`. [REST-30] */
export interface Release {
  readonly version: string
  readonly commit: string
  readonly built: string
}

export function readRelease(): Release {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Partial<Release>
  return { version: manifest.version ?? '0.0.0', commit: manifest.commit ?? 'unknown', built: manifest.built ?? 'unknown' }
}
