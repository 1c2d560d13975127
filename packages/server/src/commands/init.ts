import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { DEFAULT_CONFIG_FILE } from '../config/load.ts'
import { initialFile } from '../config/render.ts'
import { type Command, CONFIG_OPTION } from './command.ts'

export const init: Command = {
  name: 'init',
  usage: '[--config <file>] [--force]',
  summary: `writes a commented ${DEFAULT_CONFIG_FILE} with every key and its default`,
  options: { ...CONFIG_OPTION, force: { type: 'boolean' } },
  words: 0,
  run(call, io) {
    const name = call.text('config') ?? DEFAULT_CONFIG_FILE
    try {
      // Mode 0600, because the operator will write secrets into this file.
      writeFileSync(resolve(io.cwd, name), initialFile(), { flag: call.flag('force') ? 'w' : 'wx', mode: 0o600 })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      io.stderr(code === 'EEXIST' ? `${name} exists; --force overwrites it\n` : `${name} cannot be written: ${String(code)}\n`)
      return Promise.resolve(1)
    }
    io.stdout(`${name} written; set [auth] issuer and jwks_url, then run \`relay serve\`\n`)
    return Promise.resolve(0)
  },
}
