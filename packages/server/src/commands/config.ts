import { printedSettings, settingsJson } from '../config/render.ts'
import { type Command, CONFIG_OPTION } from './command.ts'
import { effectiveConfig } from './effective-config.ts'

export const configCheck: Command = {
  name: 'config check',
  usage: '[--config <file>]',
  summary: 'validates as serve does, without binding or connecting',
  options: CONFIG_OPTION,
  words: 0,
  run(call, io) {
    const loaded = effectiveConfig(call, io)
    if (loaded.kind === 'refused') return Promise.resolve(2)
    for (const warning of loaded.warnings) io.stderr(`warning: ${warning}\n`)
    io.stdout('configuration ok\n')
    return Promise.resolve(0)
  },
}

export const configPrint: Command = {
  name: 'config print',
  usage: '[--config <file>] [--json]',
  summary: 'prints the effective configuration and the source of each value, without secrets',
  options: { ...CONFIG_OPTION, json: { type: 'boolean' } },
  words: 0,
  run(call, io) {
    const loaded = effectiveConfig(call, io)
    if (loaded.kind === 'refused') return Promise.resolve(2)
    for (const warning of loaded.warnings) io.stderr(`warning: ${warning}\n`)
    io.stdout(call.flag('json') ? settingsJson(loaded.settings) : printedSettings(loaded.settings))
    return Promise.resolve(0)
  },
}
