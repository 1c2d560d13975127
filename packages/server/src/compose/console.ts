import { fileURLToPath } from 'node:url'
import type { Config } from '../config/config.ts'
import { type ConsoleFiles, readConsoleFiles } from '../console/console-files.ts'
import type { ConsoleFacts } from '../console/console-page.ts'
import { locate, readS3Address } from '../drivers/s3/s3-address.ts'
import type { Release } from '../operation/release.ts'

/** The console before it has a listener. */
export interface Console {
  readonly path: string
  readonly files: ConsoleFiles
  readonly facts: ConsoleFacts
}

/** The built console of this release; the path is the same in a clone and in the packages. */
const BUILT = fileURLToPath(new URL('../../../console/dist', import.meta.url))

/** Reads the built console; `null` when it is switched off. Rejects with RefusedStart when it is not built. [CON-3] */
export async function openConsole({ console, auth, blobs }: Config, { version }: Release): Promise<Console | null> {
  const { enabled, path, clientId, scope, authorizeParams, connectOrigins, dir } = console
  if (!enabled) return null
  const blobOrigin = blobs.url.startsWith('s3:') ? locate(readS3Address(blobs.url), '').origin.origin : null
  return {
    path,
    files: await readConsoleFiles(dir ?? BUILT),
    facts: { issuer: auth.issuer, clientId: clientId ?? '', scope, authorizeParams, version, blobOrigin, connectOrigins },
  }
}
