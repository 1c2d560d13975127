import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** File names in the form that the build makes. */
export const SCRIPT = 'index-Byl6mmfz.js'
export const PAGE = '<!doctype html>\n<html lang="en"><title>Docrelay</title></html>\n'
export const SCRIPT_TEXT = `${'export const words = "the same words again and again"\n'.repeat(200)}`

/** A folder with the files of a built console, and the variables with which a relay serves it. */
export interface BuiltConsole extends Disposable {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

export function builtConsole(): BuiltConsole {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-console-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), PAGE)
  writeFileSync(join(folder, 'assets', SCRIPT), SCRIPT_TEXT)
  // The name of the picture has no hash, and its content is already compressed.
  writeFileSync(join(folder, 'assets/logo.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47]))
  return {
    folder,
    env: { RELAY_CONSOLE_ENABLED: 'true', RELAY_CONSOLE_CLIENT_ID: 'the-console', RELAY_CONSOLE_DIR: folder },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
