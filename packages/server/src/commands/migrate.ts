import type { PendingStep } from '../compose/tools.ts'
import type { Command } from './command.ts'
import { onStore, STORE_OPTIONS } from './tool-options.ts'

/** The command `migrate`. [LIFE-29] */
export const migrateCommand: Command = {
  name: 'migrate',
  usage: '[--plan] [--reindex] [--config <file>] [--data-dir <dir>]',
  summary:
    'backs the database up and applies pending store migrations; --plan only lists them, --reindex has the search index built again',
  options: { ...STORE_OPTIONS, plan: { type: 'boolean' }, reindex: { type: 'boolean' } },
  words: 0,
  run(call, io) {
    return onStore(call, io, async (options) => {
      const { runMigrate, runPlan, runReindex } = await import('../compose/tools.ts')
      if (call.flag('plan')) {
        const { steps, storeBytes } = await runPlan(options)
        for (const step of steps) io.stdout(`pending ${lineOf(step)}\n`)
        io.stdout(
          steps.length === 0 ? UP_TO_DATE : `relay migrate writes a backup of the database first: about ${storeBytes} bytes\n`,
        )
        return 0
      }
      const { steps, backup } = await runMigrate(options)
      if (steps.length === 0) io.stdout(UP_TO_DATE)
      if (backup !== null) io.stdout(`backup ${backup}\n`)
      for (const step of steps) io.stdout(`applied ${lineOf(step)}\n`)
      if (!call.flag('reindex')) return 0
      await runReindex(options)
      io.stdout('the search index was removed; the relay builds it again in the background\n')
      return 0
    })
  },
}

const UP_TO_DATE = 'the store is up to date\n'

function lineOf({ name, safe, bytes, seconds, spaceBytes }: PendingStep): string {
  const by = safe ? 'relay serve does it as well' : 'needs relay migrate'
  return `${name}: passes over about ${bytes} bytes, takes about ${seconds} s and ${spaceBytes} bytes of disk; ${by}`
}
